// The figures of one statement for each hour of the last day, from the control plane's hourly records.
import { useQuery } from '@tanstack/react-query';
import { Sparkline } from '@/charts/Sparkline';
import { Moment } from '@/components/Moment';
import { useT } from '@/lib/i18n/context';
import { formatCompact } from '@/lib/number';
import { statementHoursQuery } from './queriesApi';
import classes from './queries.module.css';

export function StatementHours({ instanceId, digest }: { instanceId: string; digest: string }) {
  const t = useT();
  const { data } = useQuery(statementHoursQuery(instanceId, digest));
  const hours = data?.items ?? [];
  const counts = hours.map((hour) => hour.executions);
  const known = counts.filter((count) => count !== null);
  const first = hours[0];
  return (
    <section aria-label={t('statement.byHour')}>
      <h3 className={classes.part}>{t('statement.byHour')}</h3>
      {first && known.length > 0 ? (
        <>
          <Sparkline values={counts} label={t('statement.byHour')} width={480} height={48} isWide />
          <p className={classes.hint}>
            {t('statement.perHour', {
              low: formatCompact(Math.min(...known)),
              high: formatCompact(Math.max(...known)),
            })}{' '}
            <Moment at={first.since} />
          </p>
        </>
      ) : (
        <p className={classes.hint}>{t('statement.noHours')}</p>
      )}
    </section>
  );
}
