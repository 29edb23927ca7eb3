import { queryOptions } from '@tanstack/react-query';
import { api, unwrap } from '@/api/client';
import type { components } from '@/api/schema.gen';
import { pollEvery } from '@/api/useConnection';

export type FleetSeries = components['schemas']['MetricSeries'];

const NAMES = ['hit_ratio', 'hits_per_second', 'saved_time'] as const;
const MINUTE_MS = 60_000;

export const fleetMetricsQuery = queryOptions({
  queryKey: ['metrics', 'fleet', NAMES],
  queryFn: () =>
    unwrap(api.GET('/api/v1/metrics/fleet', { params: { query: { names: NAMES.join(','), points: 60 } } })),
  select: ({ series }) =>
    Object.fromEntries(series.map((item) => [item.name, item])) as Partial<
      Record<(typeof NAMES)[number], FleetSeries>
    >,
  refetchInterval: pollEvery(MINUTE_MS),
});
