import type { TimeChartModel } from './timeChartModel';
import classes from './charts.module.css';

/** How a series is drawn: its colour, dashed when it is the one compared with, dotted when it lies upon another. */
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
