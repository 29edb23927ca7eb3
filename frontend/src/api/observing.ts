import { queryOptions } from '@tanstack/react-query';
import { api, unwrap } from './client';
import { SLOW_POLL_MS, pollEvery } from './useConnection';
import { useRefetchingMutation } from './useRefetchingMutation';

const HOUR_MS = 3_600_000;

/**
 * The hit ratio that the cache, while it is off and observed, would have had over the last hours: 60 values in percent,
 * oldest first, null where nothing was observed. Polled only if `isRunning`.
 */
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
    refetchInterval: isRunning ? pollEvery(SLOW_POLL_MS) : false,
  });
}

/**
 * A mutation that makes the engine observe reads for a number of hours without serving any; 0 hours end it. Needs an
 * operator.
 */
export function useObserve(id: string) {
  return useRefetchingMutation(['instance', 'change'], async (hours: number) => {
    await unwrap(
      api.POST('/api/v1/instances/{id}/cache/observe', { params: { path: { id } }, body: { hours } }),
    );
  });
}
