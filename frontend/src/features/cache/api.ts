import { keepPreviousData, queryOptions } from '@tanstack/react-query';
import type { Change, Timing } from '@/api/changes';
import { api, unwrap } from '@/api/client';
import { useRefetchingMutation } from '@/api/useRefetchingMutation';
import { SLOW_POLL_MS, pollEvery } from '@/api/useConnection';
import { READS_PANEL } from '@/charts/metricPanels';
import { sizingRequest, type Sizing } from './sizing';

export function enablePreviewQuery(id: string, sizing: Sizing) {
  const body = sizingRequest(sizing);
  return queryOptions({
    queryKey: ['preview', 'cache', id, body],
    queryFn: () =>
      unwrap(api.POST('/api/v1/instances/{id}/cache/preview', { params: { path: { id } }, body })),
    placeholderData: keepPreviousData,
    staleTime: 0,
  });
}

export function useCacheEnable(id: string, onDone: (change: Change) => void) {
  return useRefetchingMutation(
    ['instance', 'change'],
    ({ sizing, timing }: { sizing: Sizing; timing: Timing }) =>
      unwrap(
        api.POST('/api/v1/instances/{id}/cache/enable', {
          params: { path: { id } },
          body: { ...sizingRequest(sizing), ...timing, apply: true, note: '' },
        }),
      ),
    onDone,
  );
}

export function useCacheDisable(id: string, onDone: (change: Change) => void) {
  return useRefetchingMutation(
    ['instance', 'change'],
    (isPoolRestored: boolean) =>
      unwrap(
        api.POST('/api/v1/instances/{id}/cache/disable', {
          params: { path: { id } },
          body: { restore_buffer_pool: isPoolRestored, apply: true, when: 'now', note: '' },
        }),
      ),
    onDone,
  );
}

const POINTS = 240;

/** A query for the chart of reads per second in the past hour, one line for each kind of what answered them. */
export function readsQuery(id: string) {
  return queryOptions({
    queryKey: ['metrics', 'reads', id],
    queryFn: () =>
      unwrap(
        api.GET('/api/v1/instances/{id}/metrics', {
          params: { path: { id }, query: { names: READS_PANEL.metrics.join(','), points: POINTS } },
        }),
      ),
    refetchInterval: pollEvery(SLOW_POLL_MS),
    placeholderData: keepPreviousData,
  });
}
