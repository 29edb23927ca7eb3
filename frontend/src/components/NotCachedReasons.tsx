import type { CacheStatus } from '@/api/instances';
import { useT, useApiText, type TranslateApiText, type Translate } from '@/lib/i18n/context';
import { ABSENT, formatCount, formatDuration, formatPercent } from '@/lib/number';
import classes from './NotCachedReasons.module.css';

type Reason = CacheStatus['reasons'][number];

/** The columns of `SHOW FQC REASONS` that hold numbers, each with its format. */
const FIGURES: Record<string, (value: number, t: Translate) => string> = {
  Count: (value) => formatCount(value),
  Share: (value) => formatPercent(value * 100),
  Time_us: (value, t) => formatDuration(value / 1e6, t),
};

/** The value of a column with its format. A value that is not a number, or of another column, is returned as it is. */
function figure(said: string, column: string, t: Translate): string {
  return Number.isFinite(Number(said)) ? (FIGURES[column]?.(Number(said), t) ?? said) : said;
}

/**
 * The text of one cell. The meaning of a reason is translated by the reason's name, and a full stop at its end removed,
 * since only some meanings are sentences.
 */
function words(reason: Reason, column: string, t: Translate, apiText: TranslateApiText): string {
  const said = reason[column];
  if (column === 'Meaning') return apiText(`reason.${reason.Reason}`, said?.replace(/\.$/, '') ?? ABSENT);
  if (said === null || said === undefined) return ABSENT;
  return figure(said, column, t);
}

function heading(column: string): string {
  return column.replace(/_us$/, '').toLowerCase().replaceAll('_', ' ');
}

/**
 * A table of the reasons why statements were not stored in the cache, with the engine's counts. A hint instead if there
 * are none, or if the server has no engine to count them.
 */
export function NotCachedReasons({ status }: { status: CacheStatus }) {
  const t = useT();
  const apiText = useApiText();
  if (!status.has_engine) return <p className={classes.hint}>{t('live.noReasons')}</p>;
  if (status.reasons.length === 0) return <p className={classes.hint}>{t('live.reasonsNone')}</p>;
  const names = Object.keys(status.reasons[0] ?? {});
  const isFigure = (name: string) => name in FIGURES || undefined;
  return (
    <table className={classes.reasons}>
      <caption>{t('live.reasons')}</caption>
      <thead>
        <tr>
          {names.map((name) => (
            <th key={name} data-figure={isFigure(name)}>
              {apiText(`column.${name}`, heading(name))}
            </th>
          ))}
        </tr>
      </thead>
      <tbody>
        {status.reasons.map((reason) => (
          <tr key={JSON.stringify(reason)}>
            {names.map((name) => (
              <td key={name} data-figure={isFigure(name)} title={words(reason, name, t, apiText)}>
                {words(reason, name, t, apiText)}
              </td>
            ))}
          </tr>
        ))}
      </tbody>
    </table>
  );
}
