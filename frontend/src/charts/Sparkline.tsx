import { sparkPath } from './sparkPath';
import classes from './charts.module.css';

interface SparklineProps {
  values: readonly (number | null)[];
  label: string;
  color?: number;
  width?: number;
  height?: number;
}

export function Sparkline({ values, label, color = 1, width = 84, height = 20 }: SparklineProps) {
  return (
    <svg
      className={classes.spark}
      width={width}
      height={height}
      viewBox={`0 -1 ${width} ${height + 2}`}
      role="img"
      aria-label={label}
    >
      <path
        d={sparkPath(values, width, height)}
        fill="none"
        stroke={`var(--fqc-series-${color})`}
        strokeWidth={1.4}
        strokeLinejoin="round"
      />
    </svg>
  );
}
