import { sparkPath } from './sparkPath';
import classes from './charts.module.css';

interface SparklineProps {
  values: readonly (number | null)[];
  label: string;
  color?: number;
  width?: number;
  height?: number;
  /** True to fill the width of the container. `width` is then only the width of the drawing grid. */
  isWide?: boolean;
}

/**
 * Returns a small chart of values over time, such as percentages, as wide as its tile. Null values are gaps; `label` is
 * what screen readers say.
 */
export function percentCourse(values: readonly (number | null)[], label: string) {
  return <Sparkline values={values} label={label} isWide />;
}

/** A small line without axes. Null values are gaps; `label` is what screen readers say. */
export function Sparkline({ values, label, color = 1, width = 84, height = 20, isWide }: SparklineProps) {
  return (
    <svg
      className={classes.spark}
      width={isWide ? '100%' : width}
      height={height}
      viewBox={`0 -1 ${width} ${height + 2}`}
      preserveAspectRatio={isWide ? 'none' : undefined}
      role="img"
      aria-label={label}
    >
      <path
        d={sparkPath(values, width, height)}
        fill="none"
        stroke={`var(--fqc-series-${color})`}
        strokeWidth={1.4}
        vectorEffect="non-scaling-stroke"
        strokeLinejoin="round"
        strokeLinecap="round"
      />
    </svg>
  );
}
