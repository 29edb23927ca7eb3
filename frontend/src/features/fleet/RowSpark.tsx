import { Sparkline } from '@/charts/Sparkline';
import { useT } from '@/lib/i18n/context';
import { ABSENT, formatPercent, formatRate } from '@/lib/number';
import { lastPresent } from '@/lib/series';
import { useRowMetrics } from './rowMetrics';
import classes from './fleet.module.css';

/** Nothing while they are on their way: a dash would say that there are none. */
function useValues(instanceId: string, name: string) {
  const { data, isPending } = useRowMetrics(instanceId);
  return { values: data?.find((series) => series.name === name)?.values, isPending };
}

export function RowHitRatio({ id, name }: { id: string; name: string }) {
  const t = useT();
  const { values, isPending } = useValues(id, 'hit_ratio');
  if (isPending) return null;
  const last = lastPresent(values);
  if (!values || last === null) return <span className={classes.absent}>{ABSENT}</span>;
  return (
    <span className={classes.spark}>
      <Sparkline values={values} label={t('fleet.spark', { name })} />
      <span className={classes.sparkValue}>{formatPercent(last)}</span>
    </span>
  );
}

export function RowHits({ id }: { id: string }) {
  const { values, isPending } = useValues(id, 'hits_per_second');
  return isPending ? null : <>{formatRate(lastPresent(values))}</>;
}
