import { keepPreviousData, queryOptions } from '@tanstack/react-query';
import type { Change, Timing } from '@/api/changes';
import { api, unwrap } from '@/api/client';
import { useActed } from '@/api/useActed';
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
  return useActed(
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
  return useActed(
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
