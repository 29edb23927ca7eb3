import { formatBytes } from '@/lib/bytes';
import classes from './ParameterValue.module.css';

interface ParameterValueProps {
  value: string | null | undefined;
  unit?: string;
  /** What an expression comes to, when that differs from what was written. */
  resolved?: string | null;
}

/** A parameter's value as written, and readable: bytes with their size, expressions with their result. */
export function ParameterValue({ value, unit, resolved }: ParameterValueProps) {
  if (value === null || value === undefined) return <span className={classes.gloss}>–</span>;
  const result = resolved !== undefined && resolved !== null && resolved !== value ? resolved : undefined;
  const size = unit === 'bytes' ? readable(result ?? value) : undefined;
  return (
    <span className={classes.value}>
      <code>{value === '' ? "''" : value}</code>
      {result && <span className={classes.gloss}>= {result}</span>}
      {size && <span className={classes.gloss}>{size}</span>}
    </span>
  );
}

function readable(value: string): string | undefined {
  return /^\d{4,}$/.test(value) ? formatBytes(value) : undefined;
}
