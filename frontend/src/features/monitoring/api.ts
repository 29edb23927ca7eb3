import { keepPreviousData, queryOptions } from '@tanstack/react-query';
import { api, unwrap } from '@/api/client';
import { SLOW_POLL_MS, pollEvery } from '@/api/useConnection';
import { metricNames } from '@/charts/metricPanels';
import { PANELS } from './panels';
import { lengthOf, type MonitoringSearch } from './search';

/** The polling interval of live mode while the event stream is not connected. */
const LIVE_MS = 5_000;
const POINTS = 500;

function spanOf(search: MonitoringSearch, earlierMs: number): { from: string; to: string } {
  const end = (search.to ?? Date.now()) - earlierMs;
  const start = end - lengthOf(search);
  return { from: new Date(start).toISOString(), to: new Date(end).toISOString() };
}

const MONITORED = metricNames(PANELS);

/**
 * The metrics `names` of an instance in the span that the address selects, or `earlierMs` before that. Polled unless
 * the span has a fixed end: every minute, or every 5 seconds in live mode while no pushed events arrive (`isConnected` is
 * false).
 */
export function metricsQuery(
  id: string,
  search: MonitoringSearch,
  isConnected: boolean,
  names = MONITORED,
  earlierMs = 0,
) {
  const { from, to, range, live } = search;
  return queryOptions({
    queryKey: ['metrics', 'instance', id, { from, to, range, names, earlierMs }],
    queryFn: ({ signal }) =>
      unwrap(
        api.GET('/api/v1/instances/{id}/metrics', {
          params: {
            path: { id },
            query: { names: names.join(','), points: POINTS, ...spanOf(search, earlierMs) },
          },
          signal,
        }),
      ),
    refetchInterval: to ? false : pollEvery(live && !isConnected ? LIVE_MS : SLOW_POLL_MS),
    placeholderData: keepPreviousData,
  });
}
