import { useI18n } from '@/lib/i18n/context';
import { formatLocal, formatUtc } from '@/lib/time';
import { Swatch } from './Swatch';
import type { TimeChartModel } from './timeChartModel';
import { formatValue } from './units';
import classes from './charts.module.css';

interface ChartTooltipProps {
  model: TimeChartModel;
  active?: boolean;
  label?: string | number;
  payload?: readonly { dataKey?: unknown; value?: unknown }[];
}

export function ChartTooltip({ model, active, label, payload }: ChartTooltipProps) {
  const { locale, t } = useI18n();
  if (!active || label === undefined || !payload?.length) return null;
  const at = Number(label);
  const near = model.annotations.filter(
    (item) => Math.abs(item.at - at) < (model.domain[1] - model.domain[0]) / 80,
  );
  return (
    <div className={classes.tooltip}>
      <div className={classes.tooltipTime} title={formatUtc(at)}>
        {formatLocal(at, locale, true)}
      </div>
      {model.series.map((series) => {
        const value = payload.find((item) => item.dataKey === series.key)?.value;
        return (
          <div key={series.key} className={classes.tooltipRow}>
            <Swatch series={series} />
            <span>{series.label}</span>
            <strong>{formatValue(typeof value === 'number' ? value : null, model.unit, t)}</strong>
          </div>
        );
      })}
      {near.map((item) => (
        <div key={item.at} className={classes.tooltipNote}>
          ▾ {item.label}
        </div>
      ))}
    </div>
  );
}
