import type { CacheStatus } from '@/api/instances';
import { useT, useTold, type Told } from '@/lib/i18n/context';
import { formatCount } from '@/lib/number';
import classes from './NotCachedReasons.module.css';

function isFigure(value: string | null | undefined): boolean {
  return /^\d+$/.test(value ?? '');
}

/** What the engine says; a meaning is known by the name of its reason. Some are sentences, some are not: none ends as one. */
function words(reason: CacheStatus['reasons'][number], column: string, told: Told): string | undefined {
  const said = reason[column];
  if (isFigure(said)) return formatCount(Number(said));
  return column === 'Meaning'
    ? told(`reason.${reason.Reason}`, said?.replace(/\.$/, '') ?? '–')
    : (said ?? undefined);
}

/** Why statements were not stored, as the engine counts it; the server without the engine does not say. */
export function NotCachedReasons({ status }: { status: CacheStatus }) {
  const t = useT();
  const told = useTold();
  if (!status.has_engine) return <p className={classes.hint}>{t('live.noReasons')}</p>;
  if (status.reasons.length === 0) return <p className={classes.hint}>{t('live.reasonsNone')}</p>;
  const [first] = status.reasons;
  const names = Object.keys(first ?? {});
  return (
    <table className={classes.reasons}>
      <caption>{t('live.reasons')}</caption>
      <thead>
        <tr>
          {names.map((name) => (
            <th key={name} data-figure={isFigure(first?.[name]) || undefined}>
              {told(`column.${name}`, name.toLowerCase().replaceAll('_', ' '))}
            </th>
          ))}
        </tr>
      </thead>
      <tbody>
        {status.reasons.map((reason) => (
          <tr key={JSON.stringify(reason)}>
            {names.map((name) => (
              <td
                key={name}
                data-figure={isFigure(reason[name]) || undefined}
                title={words(reason, name, told)}
              >
                {words(reason, name, told) ?? '–'}
              </td>
            ))}
          </tr>
        ))}
      </tbody>
    </table>
  );
}
