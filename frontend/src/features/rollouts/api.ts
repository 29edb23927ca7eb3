import { queryOptions } from '@tanstack/react-query';
import { api, unwrap } from '@/api/client';
import { connection } from '@/api/connection';
import { LARGEST_PAGE_SIZE, PAGE_SIZE, pagedQuery } from '@/api/pages';
import type { components } from '@/api/schema.gen';
import { useRefetchingMutation } from '@/api/useRefetchingMutation';

type Schemas = components['schemas'];
export type FleetApply = Schemas['FleetApply'];
export type FleetApplyItem = Schemas['FleetApplyItem'];
export type FleetPreviewItem = Schemas['FleetPreviewItem'];
export type Selection = Schemas['FleetSelectionRequest'];

const WORKING_POLL_MS = 1_500;

export const templateChoicesQuery = queryOptions({
  queryKey: ['template', 'choices'],
  queryFn: () =>
    unwrap(api.GET('/api/v1/templates', { params: { query: { limit: LARGEST_PAGE_SIZE } } })).then(
      ({ items }) => items,
    ),
});

export function fleetPreviewQuery(selection: Selection) {
  return queryOptions({
    queryKey: ['fleet-apply', 'preview', selection],
    queryFn: ({ signal }) => unwrap(api.POST('/api/v1/fleet-applies/preview', { body: selection, signal })),
    staleTime: 0,
  });
}

export const fleetAppliesQuery = pagedQuery<FleetApply>(['fleet-apply', 'list'], (cursor) =>
  unwrap(api.GET('/api/v1/fleet-applies', { params: { query: { cursor, limit: PAGE_SIZE } } })),
);

export function fleetApplyQuery(id: string) {
  return queryOptions({
    queryKey: ['fleet-apply', 'one', id],
    queryFn: () => unwrap(api.GET('/api/v1/fleet-applies/{id}', { params: { path: { id } } })),
    refetchInterval: ({ state }) =>
      state.data?.state === 'running' && !connection.isLost() ? WORKING_POLL_MS : false,
  });
}

export function fleetApplyItemsQuery(id: string) {
  return pagedQuery<FleetApplyItem>(['fleet-apply', 'items', id], (cursor) =>
    unwrap(
      api.GET('/api/v1/fleet-applies/{id}/items', {
        params: { path: { id }, query: { cursor, limit: LARGEST_PAGE_SIZE } },
      }),
    ),
  );
}

export function useFleetApplyStart(onDone: (apply: FleetApply) => void) {
  return useRefetchingMutation(
    ['fleet-apply'],
    (body: Schemas['FleetApplyCreateRequest']) => unwrap(api.POST('/api/v1/fleet-applies', { body })),
    onDone,
  );
}

/**
 * A mutation that starts a new fleet apply, which restores the values that this one replaced. `onDone` receives the new
 * one.
 */
export function useFleetApplyRollback(id: string, onDone: (apply: FleetApply) => void) {
  return useRefetchingMutation(
    ['fleet-apply'],
    () => unwrap(api.POST('/api/v1/fleet-applies/{id}/rollback', { params: { path: { id } } })),
    onDone,
  );
}

export type Steering = 'start' | 'pause' | 'resume' | 'abort';

export function useFleetApplySteer(id: string) {
  const params = { path: { id } };
  return useRefetchingMutation(['fleet-apply'], (steering: Steering) => {
    switch (steering) {
      case 'start':
        return unwrap(api.POST('/api/v1/fleet-applies/{id}/start', { params }));
      case 'pause':
        return unwrap(api.POST('/api/v1/fleet-applies/{id}/pause', { params }));
      case 'resume':
        return unwrap(api.POST('/api/v1/fleet-applies/{id}/resume', { params }));
      case 'abort':
        return unwrap(api.POST('/api/v1/fleet-applies/{id}/abort', { params }));
    }
  });
}
