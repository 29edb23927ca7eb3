import { formatBytes } from '@/lib/bytes';
import { useT } from '@/lib/i18n/context';
import classes from './ParameterValue.module.css';

interface ParameterValueProps {
  value: string | null | undefined;
  unit?: string;
  /** The result of the expression, if it differs from what was written. */
  resolved?: string | null;
  /**
   * The value that the server runs, if it differs from the configured one: an expression's result, or a value that
   * stays in force until a restart.
   */
  running?: string | null;
  /** One line at most, with the whole value on hover: for tables. */
  isClipped?: boolean;
}

/** A parameter's value as written, and readable: bytes with their size, expressions with their result. */
export function ParameterValue({ value, unit, resolved, running, isClipped }: ParameterValueProps) {
  const t = useT();
  if (value === null || value === undefined) return <span className={classes.gloss}>–</span>;
  const result = other(resolved, value);
  const runs = other(running, value);
  const size = unit === 'bytes' ? readable(runs ?? result ?? value) : undefined;
  const whole = [value, result].filter((text) => text !== undefined).join(' = ');
  return (
    <span className={isClipped ? classes.clipped : classes.value} title={isClipped ? whole : undefined}>
      <code data-number={/^-?\d+$/.test(value) || undefined}>{value === '' ? "''" : value}</code>
      {result && !(isClipped && size) && <span className={classes.gloss}>= {result}</span>}
      {runs !== undefined && <span className={classes.gloss}>{t('parameters.runs', { value: runs })}</span>}
      {size && <span className={classes.gloss}>{isClipped && result ? `= ${size}` : size}</span>}
    </span>
  );
}

function other(told: string | null | undefined, value: string): string | undefined {
  return told === null || told === value ? undefined : told;
}

function readable(value: string): string | undefined {
  return /^\d{4,}$/.test(value) ? formatBytes(value) : undefined;
}
