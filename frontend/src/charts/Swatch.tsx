import type { TimeChartModel } from './timeChartModel';
import classes from './charts.module.css';

/**
 * The sample of a series' line in a legend: its colour, dashed for a comparison, dotted for a line that often coincides
 * with another.
 */
export function Swatch({ series }: { series: TimeChartModel['series'][number] }) {
  return (
    <span
      className={classes.swatch}
      data-dashed={series.isDashed || undefined}
      data-dotted={series.isDotted || undefined}
      style={{ background: `var(--fqc-series-${series.color})` }}
    />
  );
}
