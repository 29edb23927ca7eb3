import { queryOptions } from '@tanstack/react-query';
import { api, unwrap } from './client';
import { LARGEST_PAGE_SIZE } from './pages';
import type { components } from './schema.gen';
import { pollEvery } from './useConnection';

export type NearCache = components['schemas']['NearCache'];

const POLL_MS = 10_000;

/**
 * The near caches (caches next to applications, which answer reads for the server) of one instance, polled every 10
 * seconds. At most the first page, since a longer list would not be read.
 */
export function nearCachesQuery(id: string) {
  return queryOptions({
    queryKey: ['instance', 'near-caches', id],
    queryFn: () =>
      unwrap(
        api.GET('/api/v1/instances/{id}/near-caches', {
          params: { path: { id }, query: { limit: LARGEST_PAGE_SIZE } },
        }),
      ),
    refetchInterval: pollEvery(POLL_MS),
  });
}
