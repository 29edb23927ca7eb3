import { keepPreviousData, queryOptions } from '@tanstack/react-query';
import { api, unwrap } from '@/api/client';
import type { RuleDraft } from './ruleDraft';

export function rulesQuery(id: string) {
  return queryOptions({
    queryKey: ['instance', 'cache-rules', id],
    queryFn: () => unwrap(api.GET('/api/v1/instances/{id}/cache/rules', { params: { path: { id } } })),
  });
}

export function rulesPreviewQuery(id: string, rules: RuleDraft[]) {
  return queryOptions({
    queryKey: ['preview', 'cache-rules', id, rules],
    queryFn: ({ signal }) =>
      unwrap(
        api.POST('/api/v1/instances/{id}/cache/rules/preview', {
          params: { path: { id } },
          body: { rules },
          signal,
        }),
      ),
    placeholderData: keepPreviousData,
    staleTime: 0,
    gcTime: 0,
  });
}
