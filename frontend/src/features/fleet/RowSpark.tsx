import { Sparkline } from '@/charts/Sparkline';
import { useT } from '@/lib/i18n/context';
import { ABSENT, formatPercent, formatRate } from '@/lib/number';
import { lastPresent } from '@/lib/series';
import { useRowMetrics } from './rowMetrics';
import classes from './fleet.module.css';

function useValues(instanceId: string, name: string) {
  const { data } = useRowMetrics(instanceId);
  return data?.find((series) => series.name === name)?.values;
}

export function RowHitRatio({ id, name }: { id: string; name: string }) {
  const t = useT();
  const values = useValues(id, 'hit_ratio');
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
  return <>{formatRate(lastPresent(useValues(id, 'hits_per_second')))}</>;
}
