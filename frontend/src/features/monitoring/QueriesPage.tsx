import { Stack } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { useNavigate, useParams, useSearch } from '@tanstack/react-router';
import { cacheAdviceQuery, cacheStatusQuery, instanceQuery, type CacheAdvice } from '@/api/instances';
import { CurveChart } from '@/charts/CurveChart';
import { EmptyState } from '@/components/EmptyState';
import { FindingList } from '@/components/FindingList';
import { Panel } from '@/components/Panel';
import { QueryView } from '@/components/QueryView';
import { formatBytes } from '@/lib/bytes';
import { useT } from '@/lib/i18n/context';
import { TableAdvice } from './TableAdvice';
import { TopQueries } from './TopQueries';

export function QueriesPage() {
  const t = useT();
  const { instanceId } = useParams({ from: '/console/instances/$instanceId' });
  const { by = 'saved' } = useSearch({ from: '/console/instances/$instanceId/queries' });
  const navigate = useNavigate({ from: '/instances/$instanceId/queries' });
  const advice = useQuery(cacheAdviceQuery(instanceId));
  return (
    <QueryView query={advice}>
      {(data) => (
        <Stack gap="md">
          <CurvePanel instanceId={instanceId} curve={data.curve} />
          <Panel title={t('queries.findings')}>
            {data.findings.length ? (
              <FindingList findings={data.findings} />
            ) : (
              <EmptyState title={t('queries.noFindings')} />
            )}
          </Panel>
          <TopQueries
            instanceId={instanceId}
            ranking={by}
            onRank={(next) =>
              void navigate({ search: { by: next === 'waste' ? next : undefined }, replace: true })
            }
          />
          <TableAdvice tables={data.tables} note={data.tables_note} />
        </Stack>
      )}
    </QueryView>
  );
}

const BLOCK_BYTES = 1024;

/** The server takes whole blocks. */
function accepted(size: number): number {
  return Math.floor(size / BLOCK_BYTES) * BLOCK_BYTES;
}

function CurvePanel({ instanceId, curve }: { instanceId: string; curve: CacheAdvice['curve'] }) {
  const t = useT();
  const navigate = useNavigate();
  const { data: status } = useQuery(cacheStatusQuery(instanceId));
  const { data: instance } = useQuery(instanceQuery(instanceId));
  const prepare = (size: number) =>
    void navigate({
      to: '/instances/$instanceId/parameters',
      params: { instanceId },
      search: { filter: 'cache', set: { query_cache_size: String(accepted(size)) } },
    });
  return (
    <Panel title={t('queries.curve')} description={t('queries.curveHint')}>
      {curve.length === 0 ? (
        <EmptyState
          title={t(instance?.has_engine ? 'queries.noCurve' : 'monitoring.needsEngine')}
          hint={instance?.has_engine ? t('queries.noCurveHint') : undefined}
        />
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
