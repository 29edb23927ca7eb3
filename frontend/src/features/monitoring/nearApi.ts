import { queryOptions } from '@tanstack/react-query';
import { api, unwrap } from '@/api/client';
import type { components } from '@/api/schema.gen';
import { useRefetchingMutation } from '@/api/useRefetchingMutation';

export type NearPrerequisites = components['schemas']['NearPrerequisites'];

export function nearPrerequisitesQuery(id: string) {
  return queryOptions({
    queryKey: ['instance', 'near-prerequisites', id],
    queryFn: () =>
      unwrap(api.GET('/api/v1/instances/{id}/near-caches/prerequisites', { params: { path: { id } } })),
    staleTime: 30_000,
  });
}

export function useNearTokenCreate(id: string) {
  return useRefetchingMutation(['token'], (name: string) =>
    unwrap(
      api.POST('/api/v1/instances/{id}/near-caches/tokens', { params: { path: { id } }, body: { name } }),
    ),
  );
}
