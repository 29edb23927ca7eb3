import { useQuery } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { cacheQueriesQuery, cacheStatusQuery, instanceQuery, type CacheAdvice } from '@/api/instances';
import { CurveChart } from '@/charts/CurveChart';
import { EmptyState } from '@/components/EmptyState';
import { Panel } from '@/components/Panel';
import { formatBytes } from '@/lib/bytes';
import { useT, useApiText } from '@/lib/i18n/context';

const BLOCK_BYTES = 1024;

/** A size in bytes, rounded down to whole blocks of 1024, the only sizes that the server accepts. */
function accepted(size: number): number {
  return Math.floor(size / BLOCK_BYTES) * BLOCK_BYTES;
}

/**
 * The predicted hit ratio by size of the cache. A click on a size opens the parameter editor with a change to this
 * size.
 */
export function CurvePanel({ instanceId, curve }: { instanceId: string; curve: CacheAdvice['curve'] }) {
  const t = useT();
  const navigate = useNavigate();
  const { data: status } = useQuery(cacheStatusQuery(instanceId));
  const prepare = (size: number) =>
    void navigate({
      to: '/instances/$instanceId/parameters',
      params: { instanceId },
      search: { filter: 'cache', set: { query_cache_size: String(accepted(size)) } },
    });
  return (
    <Panel title={t('queries.curve')} description={curve.length > 0 ? t('queries.curveHint') : undefined}>
      {curve.length === 0 ? (
        <NoCurve instanceId={instanceId} isOn={status?.is_enabled ?? false} />
      ) : (
        <CurveChart
          points={curve.map(({ size_bytes, hit_ratio }) => ({ size: size_bytes, ratio: hit_ratio }))}
          present={status?.size_bytes ?? undefined}
          presentLabel={t('queries.present', { size: formatBytes(status?.size_bytes ?? 0) })}
          actionLabel={(size) => t('queries.prepare', { size: formatBytes(size) })}
          onChoose={prepare}
        />
      )}
    </Panel>
  );
}

/** Says why there is no curve: no engine, an old engine, a cache that is off, or too few reads so far. */
function NoCurve({ instanceId, isOn }: { instanceId: string; isOn: boolean }) {
  const t = useT();
  const apiText = useApiText();
  const { data: instance } = useQuery(instanceQuery(instanceId));
  // An engine that reports statements also reports the curve.
  const { data: reports } = useQuery(cacheQueriesQuery(instanceId, 0));
  if (instance?.has_engine === false) {
    return <EmptyState title={t('queries.curveNotOffered')} hint={t('monitoring.needsEngine')} />;
  }
  if (reports?.is_available === false) {
    return (
      <EmptyState
        title={t('queries.curveNotOffered')}
        hint={apiText(`note.${reports.reason}`, reports.note)}
      />
    );
  }
  return (
    <EmptyState title={t('queries.noCurve')} hint={t(isOn ? 'queries.noCurveHint' : 'queries.noCurveOff')} />
  );
}
