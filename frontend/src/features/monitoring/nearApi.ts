import { queryOptions } from '@tanstack/react-query';
import { api, unwrap } from '@/api/client';
import type { components } from '@/api/schema.gen';
import { useActed } from '@/api/useActed';
import { pollEvery } from '@/api/useConnection';

export type NearCache = components['schemas']['NearCache'];
export type NearPrerequisites = components['schemas']['NearPrerequisites'];

const POLL_MS = 10_000;
/** More on one server than anybody reads in a list. */
const MOST = 200;

export function nearCachesQuery(id: string) {
  return queryOptions({
    queryKey: ['instance', 'near-caches', id],
    queryFn: () =>
      unwrap(
        api.GET('/api/v1/instances/{id}/near-caches', { params: { path: { id }, query: { limit: MOST } } }),
      ),
    refetchInterval: pollEvery(POLL_MS),
  });
}

export function nearPrerequisitesQuery(id: string) {
  return queryOptions({
    queryKey: ['instance', 'near-prerequisites', id],
    queryFn: () =>
      unwrap(api.GET('/api/v1/instances/{id}/near-caches/prerequisites', { params: { path: { id } } })),
    staleTime: 30_000,
  });
}

export function useNearTokenCreate(id: string) {
  return useActed(['token'], (name: string) =>
    unwrap(
      api.POST('/api/v1/instances/{id}/near-caches/tokens', { params: { path: { id } }, body: { name } }),
    ),
  );
}
