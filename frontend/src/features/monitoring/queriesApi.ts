import { queryOptions, useMutation } from '@tanstack/react-query';
import { api, unwrap } from '@/api/client';

export function cacheTablesQuery(id: string) {
  return queryOptions({
    queryKey: ['instance', 'cache-tables', id],
    queryFn: () => unwrap(api.GET('/api/v1/instances/{id}/cache/tables', { params: { path: { id } } })),
    staleTime: 15_000,
  });
}

export function statementHoursQuery(id: string, digest: string) {
  return queryOptions({
    queryKey: ['instance', 'statement-hours', id, digest],
    queryFn: () =>
      unwrap(
        api.GET('/api/v1/instances/{id}/cache/queries/{digest}/hours', { params: { path: { id, digest } } }),
      ),
    staleTime: 60_000,
  });
}

/**
 * A mutation that fetches a recorded execution of the statement with this digest, with its literals. It is a mutation,
 * since the audit log records every reading.
 */
export function useExample(id: string) {
  return useMutation({
    mutationFn: (digest: string) =>
      unwrap(
        api.GET('/api/v1/instances/{id}/cache/queries/{digest}/example', {
          params: { path: { id, digest } },
        }),
      ),
  });
}
