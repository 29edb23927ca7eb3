// Key figures of the past hour for an instance or the fleet. The API defines them and their time span; this file only
// has their names, in the API's order.
import { queryOptions } from '@tanstack/react-query';
import { api, unwrap } from './client';
import type { components } from './schema.gen';
import { SLOW_POLL_MS, pollEvery } from './useConnection';

export const HEADLINES = [
  'select_hit_ratio',
  'served_per_second',
  'saved_time',
  'statements_per_second',
  'buffer_pool_hit_ratio',
] as const;
export type HeadlineName = (typeof HEADLINES)[number];
export type HeadlineSeries = components['schemas']['MetricSeries'];
/** The key figures that a response has, by name. A figure that the server does not report is missing. */
export type Headlines = Partial<Record<HeadlineName, HeadlineSeries>>;

function byName({ series }: components['schemas']['Headlines']): Headlines {
  return Object.fromEntries(series.map((item) => [item.name, item]));
}

export function instanceHeadlinesQuery(id: string) {
  return queryOptions({
    queryKey: ['metrics', 'headlines', id],
    queryFn: () => unwrap(api.GET('/api/v1/instances/{id}/headlines', { params: { path: { id } } })),
    select: byName,
    refetchInterval: pollEvery(SLOW_POLL_MS / 2),
  });
}

export const fleetHeadlinesQuery = queryOptions({
  queryKey: ['metrics', 'headlines'],
  queryFn: () => unwrap(api.GET('/api/v1/fleet/headlines')),
  select: byName,
  refetchInterval: pollEvery(SLOW_POLL_MS),
});
