import { Sparkline } from '@/charts/Sparkline';
import { useT } from '@/lib/i18n/context';
import { ABSENT, formatPercent, formatRate, isPresent } from '@/lib/number';
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

/**
 * The figures of one metric for a row, undefined if there are none. While `isPending` they are not known yet, and no
 * dash must be shown.
 */
function useSeries(instanceId: string, name: string) {
  const { data, isPending } = useRowMetrics(instanceId);
  return { series: data?.find((series) => series.name === name), isPending };
}

function HitRatio({ id, name }: RowHitRatioProps) {
  const t = useT();
  const { series, isPending } = useSeries(id, 'select_hit_ratio');
  if (isPending) return null;
  if (!isPresent(series?.whole)) return <span className={classes.absent}>{ABSENT}</span>;
  return (
    <span className={classes.spark}>
      <Sparkline values={series.values} label={t('fleet.spark', { name })} />
      <span className={classes.sparkValue}>{formatPercent(series.whole)}</span>
    </span>
  );
}

function Hits({ id }: { id: string }) {
  const { series, isPending } = useSeries(id, 'served_per_second');
  return isPending ? null : <>{formatRate(series?.whole)}</>;
}
