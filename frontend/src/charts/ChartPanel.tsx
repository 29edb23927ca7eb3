// A titled chart: legend with formulas on hover, zoom reset, and export. Empty or unavailable figures say why.
import { ActionIcon, Menu, Tooltip } from '@mantine/core';
import { useRef, type ReactNode } from 'react';
import { IconDownload, IconPhoto, IconTable } from '@/components/icons';
import { Panel } from '@/components/Panel';
import { useI18n, useT } from '@/lib/i18n/context';
import { formatLocal, formatZone } from '@/lib/time';
import { chartCsv, chartPng, fileNameOf, marksOf, saveFile } from './chartExport';
import { Swatch } from './Swatch';
import { TimeChart } from './TimeChart';
import type { TimeChartModel } from './timeChartModel';
import classes from './charts.module.css';

interface ChartPanelProps {
  title: string;
  /** The name of the instance or fleet shown. It is part of the exported file's name and of the picture. */
  subject: string;
  model: TimeChartModel;
  height?: number;
  syncId?: string;
  isFilled?: boolean;
  onZoom?: (from: number, to: number) => void;
  /** Text instead of the chart, which says why the server does not offer the figure. Absent if it does. */
  unavailable?: string;
  /** The text of a chart without values. Absent means that there are no samples yet. */
  emptyText?: string;
  actions?: ReactNode;
  /** Content below the chart. */
  children?: ReactNode;
}

export function ChartPanel({
  title,
  subject,
  model,
  unavailable,
  emptyText,
  actions,
  children,
  height = 220,
  ...chart
}: ChartPanelProps) {
  const t = useT();
  const holder = useRef<HTMLDivElement>(null);
  const isBlank = Boolean(unavailable) || model.isEmpty;
  return (
    <Panel
      title={title}
      actions={
        <>
          {actions}
          {!isBlank && (
            <ExportMenu
              title={title}
              subject={subject}
              model={model}
              svgOf={() => holder.current?.querySelector('svg') ?? null}
            />
          )}
        </>
      }
    >
      <Legend model={model} />
      <div
        ref={holder}
        role="img"
        aria-label={`${title}: ${model.series.map(({ label }) => label).join(', ')}`}
      >
        {isBlank ? (
          <div className={classes.blank} style={{ height }}>
            {unavailable ?? emptyText ?? t('chart.noData')}
          </div>
        ) : (
          <TimeChart model={model} height={height} {...chart} />
        )}
      </div>
      {children}
    </Panel>
  );
}

function Legend({ model }: { model: TimeChartModel }) {
  return (
    <ul className={classes.legend}>
      {model.series.map((series) => (
        <li key={series.key}>
          <Tooltip label={series.formula ?? series.label} events={{ hover: true, focus: true, touch: true }}>
            <span tabIndex={series.formula ? 0 : undefined} className={classes.legendItem}>
              <Swatch series={series} />
              {series.label}
            </span>
          </Tooltip>
        </li>
      ))}
    </ul>
  );
}

interface ExportMenuProps {
  title: string;
  subject: string;
  model: TimeChartModel;
  svgOf: () => SVGSVGElement | null;
}

function ExportMenu({ title, subject, model, svgOf }: ExportMenuProps) {
  const { t, locale } = useI18n();
  const fileName = fileNameOf(subject, title);
  const savePng = async () => {
    const svg = svgOf();
    if (!svg) return;
    const background = getComputedStyle(document.documentElement).getPropertyValue('--fqc-surface');
    const [from, to] = model.domain.map((at) => formatLocal(at, locale));
    const subtitle = `${subject} · ${from} – ${to} · ${formatZone(model.domain[1])}`;
    const marks = marksOf(model.annotations, (at) => formatLocal(at, locale));
    const heading = { title, subtitle, series: model.series, marks };
    saveFile(`${fileName}.png`, await chartPng(svg, heading, background));
  };
  return (
    <Menu position="bottom-end">
      <Menu.Target>
        <ActionIcon variant="subtle" color="gray" size="sm" aria-label={t('chart.export', { title })}>
          <IconDownload size={15} />
        </ActionIcon>
      </Menu.Target>
      <Menu.Dropdown>
        <Menu.Item leftSection={<IconPhoto size={15} />} onClick={() => void savePng()}>
          {t('chart.exportPng')}
        </Menu.Item>
        <Menu.Item
          leftSection={<IconTable size={15} />}
          onClick={() => saveFile(`${fileName}.csv`, new Blob([chartCsv(model)], { type: 'text/csv' }))}
        >
          {t('chart.exportCsv')}
        </Menu.Item>
      </Menu.Dropdown>
    </Menu>
  );
}
