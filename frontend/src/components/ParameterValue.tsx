import { formatBytes } from '@/lib/bytes';
import classes from './ParameterValue.module.css';

interface ParameterValueProps {
  value: string | null | undefined;
  unit?: string;
  /** What an expression comes to, when that differs from what was written. */
  resolved?: string | null;
  /** One line at most, the whole on hover: for tables. */
  isClipped?: boolean;
}

/** A parameter's value as written, and readable: bytes with their size, expressions with their result. */
export function ParameterValue({ value, unit, resolved, isClipped }: ParameterValueProps) {
  if (value === null || value === undefined) return <span className={classes.gloss}>–</span>;
  const result = resolved !== undefined && resolved !== null && resolved !== value ? resolved : undefined;
  const size = unit === 'bytes' ? readable(result ?? value) : undefined;
  const whole = [value, result].filter((text) => text !== undefined).join(' = ');
  return (
    <span className={isClipped ? classes.clipped : classes.value} title={isClipped ? whole : undefined}>
      <code data-number={/^-?\d+$/.test(value) || undefined}>{value === '' ? "''" : value}</code>
      {result && !(isClipped && size) && <span className={classes.gloss}>= {result}</span>}
      {size && <span className={classes.gloss}>{isClipped && result ? `= ${size}` : size}</span>}
    </span>
  );
}

function readable(value: string): string | undefined {
  return /^\d{4,}$/.test(value) ? formatBytes(value) : undefined;
}
