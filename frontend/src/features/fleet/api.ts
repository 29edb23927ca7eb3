import { queryOptions, useMutation } from '@tanstack/react-query';
import { classOfSize, type CustomSize } from '@/api/classes';
import { api, unwrap } from '@/api/client';
import { LARGEST_PAGE_SIZE, pagedQuery, pollPages } from '@/api/pages';
import type { components } from '@/api/schema.gen';
import { useRefetchingMutation } from '@/api/useRefetchingMutation';
import { pollEvery } from '@/api/useConnection';
import type { InstanceRequest } from './instanceDraft';
import type { FleetSearch } from './search';

export type Instance = components['schemas']['Instance'];
export type EndpointSeen = components['schemas']['EndpointSeen'];
export type FleetSummary = components['schemas']['FleetSummary'];

const POLL_MS = 15_000;

function filtersOf(search: FleetSearch) {
  return {
    search: search.search,
    state: search.state,
    instance_class: search.class,
    tag: search.tag,
    is_drifted: search.drifted,
    is_pending_restart: search.pending,
    is_engine_missing: search.bare,
  };
}

export function instancesQuery(search: FleetSearch) {
  const filters = filtersOf(search);
  return {
    ...pagedQuery<Instance>(['instance', 'list', filters], (cursor) =>
      unwrap(
        api.GET('/api/v1/instances', { params: { query: { ...filters, cursor, limit: LARGEST_PAGE_SIZE } } }),
      ),
    ),
    refetchInterval: pollPages(POLL_MS),
  };
}

export const summaryQuery = queryOptions({
  queryKey: ['instance', 'summary'],
  queryFn: () => unwrap(api.GET('/api/v1/fleet/summary')),
  refetchInterval: pollEvery(POLL_MS),
});

export const openIncidentsQuery = queryOptions({
  queryKey: ['incident', 'open'],
  queryFn: () =>
    unwrap(api.GET('/api/v1/incidents', { params: { query: { is_open: true, limit: LARGEST_PAGE_SIZE } } })),
  refetchInterval: pollEvery(POLL_MS),
});

export function useInstanceAdd(onDone: (instance: Instance) => void) {
  return useRefetchingMutation(
    ['instance', 'class'],
    async ({ body, size }: { body: InstanceRequest; size?: CustomSize }) => {
      const made = size && (await classOfSize(size));
      const instance_class = made?.name ?? body.instance_class;
      return unwrap(api.POST('/api/v1/instances', { body: { ...body, instance_class } }));
    },
    onDone,
  );
}

/** A mutation that tests the connection to a server that is not registered. Only the audit log records the test. */
export function useEndpointCheck() {
  return useMutation({
    mutationFn: (body: components['schemas']['EndpointCheckRequest']) =>
      unwrap(api.POST('/api/v1/endpoints/check', { body })),
  });
}
