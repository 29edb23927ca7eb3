import { keepPreviousData, queryOptions } from '@tanstack/react-query';
import { api, unwrap } from '@/api/client';
import { CALM_MS, pollEvery } from '@/api/useConnection';
import { METRIC_NAMES } from './panels';
import { RANGE_MS, type MonitoringSearch } from './search';

/** Live mode whose events are not heard. */
const LIVE_MS = 5_000;
const POINTS = 500;

function spanOf({ from, to, range = '1h' }: MonitoringSearch): { from: string; to: string } {
  const end = to ?? Date.now();
  const start = from ?? end - RANGE_MS[range];
  return { from: new Date(start).toISOString(), to: new Date(end).toISOString() };
}

export function metricsQuery(id: string, search: MonitoringSearch, isHeard: boolean) {
  const { from, to, range, live } = search;
  return queryOptions({
    queryKey: ['metrics', 'instance', id, { from, to, range }],
    queryFn: ({ signal }) =>
      unwrap(
        api.GET('/api/v1/instances/{id}/metrics', {
          params: {
            path: { id },
            query: { names: METRIC_NAMES.join(','), points: POINTS, ...spanOf(search) },
          },
          signal,
        }),
      ),
    refetchInterval: to ? false : pollEvery(live && !isHeard ? LIVE_MS : CALM_MS),
    placeholderData: keepPreviousData,
  });
}
