import { formatBytes } from '@/lib/bytes';
import { useT } from '@/lib/i18n/context';
import classes from './ParameterValue.module.css';

interface ParameterValueProps {
  value: string | null | undefined;
  unit?: string;
  /** The value that an expression yields. Shown only if it differs from `value`. */
  resolved?: string | null;
  /**
   * The value that the server runs, which differs from `value` for an expression, or until a restart. Shown only then.
   */
  running?: string | null;
  /** True, for tables, to show one line at most. The whole value is then the tooltip. */
  isClipped?: boolean;
}

/**
 * A parameter's value as it was written, followed by what makes it readable: the result of an expression, and bytes in
 * larger units. A dash if `value` is null.
 */
export function ParameterValue({ value, unit, resolved, running, isClipped }: ParameterValueProps) {
  const t = useT();
  if (value === null || value === undefined) return <span className={classes.gloss}>–</span>;
  const result = ifDifferent(resolved, value);
  const runs = ifDifferent(running, value);
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

function ifDifferent(text: string | null | undefined, value: string): string | undefined {
  return text === null || text === value ? undefined : text;
}

function readable(value: string): string | undefined {
  return /^\d{4,}$/.test(value) ? formatBytes(value) : undefined;
}
