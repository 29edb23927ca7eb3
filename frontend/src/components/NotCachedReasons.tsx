import type { CacheStatus } from '@/api/instances';
import { useT } from '@/lib/i18n/context';
import { formatCount } from '@/lib/number';
import classes from './NotCachedReasons.module.css';

function isFigure(value: string | null | undefined): boolean {
  return /^\d+$/.test(value ?? '');
}

/** Why statements were not stored, as the engine counts it; the server without the engine does not say. */
export function NotCachedReasons({ status }: { status: CacheStatus }) {
  const t = useT();
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
              {name.toLowerCase().replaceAll('_', ' ')}
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
                title={reason[name] ?? undefined}
              >
                {isFigure(reason[name]) ? formatCount(Number(reason[name])) : (reason[name] ?? '–')}
              </td>
            ))}
          </tr>
        ))}
      </tbody>
    </table>
  );
}
