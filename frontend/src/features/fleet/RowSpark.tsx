import { Sparkline } from '@/charts/Sparkline';
import { useT } from '@/lib/i18n/context';
import { ABSENT, formatPercent, formatRate } from '@/lib/number';
import { lastPresent } from '@/lib/series';
import { useIsSettled, useRowMetrics } from './rowMetrics';
import classes from './fleet.module.css';

interface RowHitRatioProps {
  id: string;
  name: string;
}

export function RowHitRatio(props: RowHitRatioProps) {
  return useIsSettled(props.id) ? <HitRatio {...props} /> : null;
}

export function RowHits({ id }: { id: string }) {
  return useIsSettled(id) ? <Hits id={id} /> : null;
}

/** Nothing while they are on their way: a dash would say that there are none. */
function useValues(instanceId: string, name: string) {
  const { data, isPending } = useRowMetrics(instanceId);
  return { values: data?.find((series) => series.name === name)?.values, isPending };
}

function HitRatio({ id, name }: RowHitRatioProps) {
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

function Hits({ id }: { id: string }) {
  const { values, isPending } = useValues(id, 'hits_per_second');
  return isPending ? null : <>{formatRate(lastPresent(values))}</>;
}
