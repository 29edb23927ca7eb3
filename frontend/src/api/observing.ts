import { queryOptions } from '@tanstack/react-query';
import { api, unwrap } from './client';
import { CALM_MS, pollEvery } from './useConnection';
import { useActed } from './useActed';

const HOUR_MS = 3_600_000;

/** The hit ratio that the cache would have had over the last hours. */
export function observedQuery(id: string, hours: number, isRunning: boolean) {
  return queryOptions({
    queryKey: ['metrics', 'observed', id, hours],
    queryFn: async () => {
      const to = Date.now();
      const span = { from: new Date(to - hours * HOUR_MS).toISOString(), to: new Date(to).toISOString() };
      const query = { names: 'observed_hit_ratio', points: 60, ...span };
      const { series } = await unwrap(
        api.GET('/api/v1/instances/{id}/metrics', { params: { path: { id }, query } }),
      );
      return series[0]?.values ?? [];
    },
    refetchInterval: isRunning ? pollEvery(CALM_MS) : false,
  });
}

/** Starts observing for a number of hours; 0 hours end it. */
export function useObserve(id: string) {
  return useActed(['instance', 'change'], async (hours: number) => {
    await unwrap(
      api.POST('/api/v1/instances/{id}/cache/observe', { params: { path: { id } }, body: { hours } }),
    );
  });
}
