import { queryOptions } from '@tanstack/react-query';
import { api, unwrap } from '@/api/client';

export function cacheTablesQuery(id: string) {
  return queryOptions({
    queryKey: ['instance', 'cache-tables', id],
    queryFn: () => unwrap(api.GET('/api/v1/instances/{id}/cache/tables', { params: { path: { id } } })),
    staleTime: 15_000,
  });
}

export function cacheQueriesQuery(id: string) {
  return queryOptions({
    queryKey: ['instance', 'cache-queries', id],
    queryFn: () => unwrap(api.GET('/api/v1/instances/{id}/cache/queries', { params: { path: { id } } })),
    staleTime: 15_000,
  });
}
