import { queryOptions } from '@tanstack/react-query';
import { classOfSize } from '@/api/classes';
import { api, unwrap } from '@/api/client';
import type { Change } from '@/api/changes';
import { LARGEST_PAGE_SIZE } from '@/api/pages';
import type { Instance } from '@/api/instances';
import { useRefetchingMutation } from '@/api/useRefetchingMutation';
import { pollEvery } from '@/api/useConnection';
import type { InstancePatch } from './instanceEdit';

const GLANCE_MS = 30_000;

export function useClassOfSize() {
  return useRefetchingMutation(['class'], classOfSize);
}

export function useInstanceUpdate({ id, version }: Instance) {
  const params = { path: { id }, header: { 'If-Match': `"${version}"` } };
  return useRefetchingMutation(['instance'], (body: InstancePatch) =>
    unwrap(api.PATCH('/api/v1/instances/{id}', { params, body })),
  );
}

export function useInstanceDelete(onDone: (change: Change) => void) {
  return useRefetchingMutation(
    ['instance'],
    (instance: Instance) =>
      unwrap(
        api.DELETE('/api/v1/instances/{id}', {
          params: { path: { id: instance.id }, header: { 'If-Match': `"${instance.version}"` } },
        }),
      ),
    onDone,
  );
}

/** The open incidents of one instance. Only the first page, since an instance does not have more in practice. */
export function openIncidentsQuery(instance: string) {
  return queryOptions({
    queryKey: ['incident', 'open', instance],
    queryFn: () =>
      unwrap(
        api.GET('/api/v1/incidents', {
          params: { query: { instance, is_open: true, limit: LARGEST_PAGE_SIZE } },
        }),
      ).then(({ items }) => items),
    refetchInterval: pollEvery(GLANCE_MS),
  });
}
