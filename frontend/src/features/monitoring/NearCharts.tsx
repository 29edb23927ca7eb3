import { SegmentedControl } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { useMemo } from 'react';
import { instanceQuery } from '@/api/instances';
import { ChartPanel } from '@/charts/ChartPanel';
import { FilterBar } from '@/components/FilterBar';
import { QueryView } from '@/components/QueryView';
import { useT, useMetricText } from '@/lib/i18n/context';
import { metricsQuery } from './api';
import { buildPanel, metricNames, translateSource, type MetricAnswer } from '@/charts/metricPanels';
import { NEAR_PANELS } from './panels';
import { RANGES, type Range } from './search';
import classes from './monitoring.module.css';

const NAMES = metricNames(NEAR_PANELS);

interface NearChartsProps {
  instanceId: string;
  range: Range;
  onRange: (range: Range) => void;
}

/**
 * Charts of the reads that near caches (caches next to applications) answered for this server, and of the time for
 * which writers waited until near caches had received their changes.
 */
export function NearCharts({ instanceId, range, onRange }: NearChartsProps) {
  const t = useT();
  const { data: instance } = useQuery(instanceQuery(instanceId));
  const metrics = useQuery(metricsQuery(instanceId, { range }, false, NAMES));
  return (
    <>
      <FilterBar>
        <SegmentedControl
          size="xs"
          aria-label={t('monitoring.range')}
          value={range}
          onChange={(next) => onRange(next as Range)}
          data={RANGES.map((value) => ({ value, label: t(`monitoring.range.${value}`) }))}
        />
      </FilterBar>
      <QueryView query={metrics}>
        {(answer) => <Charts subject={instance?.name ?? ''} answer={answer} />}
      </QueryView>
    </>
  );
}

function Charts({ subject, answer }: { subject: string; answer: MetricAnswer }) {
  const t = useT();
  const metricText = useMetricText();
  const models = useMemo(() => {
    const source = translateSource({ label: '', answer }, metricText);
    return NEAR_PANELS.map((plan) => ({ plan, model: buildPanel(plan, [source], []) }));
  }, [answer, metricText]);
  return (
    <div className={classes.grid}>
      {models.map(({ plan, model }) => (
        <div key={plan.key} data-wide={plan.isHeadline || undefined} className={classes.panel}>
          <ChartPanel
            title={t(`monitoring.panel.${plan.key}`)}
            subject={subject}
            model={model}
            height={plan.isHeadline ? 240 : 170}
            syncId="near"
            emptyText={t('monitoring.nothingCounted')}
          />
        </div>
      ))}
    </div>
  );
}
