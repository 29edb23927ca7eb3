// Queries about an instance that several pages share.
import { keepPreviousData, queryOptions } from '@tanstack/react-query';
import { api, unwrap, unwrapWithEtag } from './client';
import type { Change } from './changes';
import type { components } from './schema.gen';
import { useRefetchingMutation } from './useRefetchingMutation';
import { pollEvery } from './useConnection';

type Schemas = components['schemas'];
export type Instance = Schemas['Instance'];
export type InstanceParameter = Schemas['InstanceParameter'];
export type InstanceClass = Schemas['InstanceClass'];
export type Prerequisites = Schemas['Prerequisites'];
export type CacheStatus = Schemas['CacheStatus'];
export type CacheAdvice = Schemas['CacheAdvice'];

const POLL_MS = 10_000;

export function instanceQuery(id: string) {
  return queryOptions({
    queryKey: ['instance', 'one', id],
    queryFn: () => unwrap(api.GET('/api/v1/instances/{id}', { params: { path: { id } } })),
    refetchInterval: pollEvery(POLL_MS),
  });
}

/**
 * At most 20 instances whose name matches the typed text, as choices of a select with the id as value. While a new text
 * is searched, the previous choices stay.
 */
export function instanceChoicesQuery(search: string) {
  return queryOptions({
    queryKey: ['instance', 'choices', search],
    queryFn: () =>
      unwrap(api.GET('/api/v1/instances', { params: { query: { search: search || undefined, limit: 20 } } })),
    select: ({ items }) => items.map(({ id, name }) => ({ value: id, label: name })),
    placeholderData: keepPreviousData,
  });
}

/** The instance with this id, for pages that only show its name. Unlike `instanceQuery` it does not poll. */
export function instanceNameQuery(id: string) {
  return queryOptions({ ...instanceQuery(id), refetchInterval: false, staleTime: 60_000 });
}

/** The parameters of an instance, with the ETag that a change of them sends. */
export function instanceParametersQuery(id: string) {
  return queryOptions({
    queryKey: ['instance', 'parameters', id],
    queryFn: () => unwrapWithEtag(api.GET('/api/v1/instances/{id}/parameters', { params: { path: { id } } })),
    staleTime: 10_000,
  });
}

export function prerequisitesQuery(id: string) {
  return queryOptions({
    queryKey: ['instance', 'prerequisites', id],
    queryFn: () => unwrap(api.GET('/api/v1/instances/{id}/prerequisites', { params: { path: { id } } })),
  });
}

export function cacheStatusQuery(id: string, pollMs = POLL_MS) {
  return queryOptions({
    queryKey: ['instance', 'cache-status', id],
    queryFn: () => unwrap(api.GET('/api/v1/instances/{id}/cache/status', { params: { path: { id } } })),
    refetchInterval: pollEvery(pollMs),
  });
}

export function cacheAdviceQuery(id: string) {
  return queryOptions({
    queryKey: ['instance', 'cache-advice', id],
    queryFn: () => unwrap(api.GET('/api/v1/instances/{id}/cache/advice', { params: { path: { id } } })),
    staleTime: 30_000,
  });
}

/** The figures of an instance's statements over the last `hours`; 0 means since the server started to count. */
export function cacheQueriesQuery(id: string, hours: number) {
  return queryOptions({
    queryKey: ['instance', 'cache-queries', id, hours],
    queryFn: () =>
      unwrap(api.GET('/api/v1/instances/{id}/cache/queries', { params: { path: { id }, query: { hours } } })),
    placeholderData: keepPreviousData,
    staleTime: 15_000,
  });
}

export function classQuery(name: string) {
  return queryOptions({
    queryKey: ['class', name],
    queryFn: () => unwrap(api.GET('/api/v1/instance-classes/{id}', { params: { path: { id: name } } })),
    staleTime: 60_000,
  });
}

/**
 * A mutation that runs the action that a finding offers, such as a restart. `onDone` receives the change set that the
 * action created. Fails if this console does not know the route.
 */
export function useInstanceAction(id: string, onDone: (change: Change) => void) {
  return useRefetchingMutation(
    ['instance'],
    ({ route, body }: InstanceAction) => runAction(id, route, body),
    onDone,
  );
}

/** A request that a finding names: `route` is the path below the instance's own, such as `cache/disable`. */
export interface InstanceAction {
  route: string;
  body: Record<string, unknown>;
}

/**
 * The parameter values that the action of a finding proposes, for review in the parameter editor. Undefined if the
 * action sets no parameters; it is then run directly.
 */
export function proposedParameters(
  route: string,
  body: Record<string, unknown>,
): Record<string, string> | undefined {
  if (route !== 'changes' || typeof body.parameters !== 'object' || body.parameters === null)
    return undefined;
  return Object.fromEntries(Object.entries(body.parameters).map(([name, value]) => [name, String(value)]));
}

/**
 * Sends the request of a finding's action, and returns the change set that it created. Throws for a route that this
 * console does not know, which comes from a newer server.
 */
async function runAction(
  id: string,
  route: string,
  body: Record<string, unknown>,
): Promise<Schemas['Change']> {
  const params = { path: { id } };
  switch (route) {
    case 'restart':
      return unwrap(
        api.POST('/api/v1/instances/{id}/restart', { params, body: body as Schemas['RestartRequest'] }),
      );
    case 'upgrade':
      return unwrap(
        api.POST('/api/v1/instances/{id}/upgrade', { params, body: body as Schemas['UpgradeRequest'] }),
      );
    case 'proxy':
      return unwrap(
        api.POST('/api/v1/instances/{id}/proxy', { params, body: body as Schemas['ProxyRequest'] }),
      );
    case 'resize':
      return unwrap(
        api.POST('/api/v1/instances/{id}/resize', { params, body: body as Schemas['ResizeRequest'] }),
      );
    case 'cache/disable':
      return unwrap(
        api.POST('/api/v1/instances/{id}/cache/disable', {
          params,
          body: body as Schemas['CacheDisableRequest'],
        }),
      );
    default:
      throw new Error(`This console does not know the action "${route}": use the API, or a newer console.`);
  }
}
