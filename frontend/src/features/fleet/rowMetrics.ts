// The figures of the past hour for one row. They are requested only after the row has been on screen for a moment, so
// that scrolling through thousands of rows does not request all of them. Rows that settle together share one request.
import { useQuery, useQueryClient } from '@tanstack/react-query';
import { useEffect, useState } from 'react';
import { batched } from '@/api/batched';
import { api, unwrap } from '@/api/client';
import { LARGEST_PAGE_SIZE } from '@/api/pages';

const SETTLE_MS = 300;
const MINUTE_MS = 60_000;
const POINTS = 30;

const loadRow = batched(async (ids) => {
  const query = { instances: ids.join(','), names: 'select_hit_ratio,served_per_second', points: POINTS };
  const { items } = await unwrap(api.GET('/api/v1/metrics/sparklines', { params: { query } }));
  return new Map(items.map(({ instance_id, series }) => [instance_id, series]));
}, LARGEST_PAGE_SIZE);

const keyOf = (instanceId: string) => ['metrics', 'row', instanceId];

/**
 * True once the row has been mounted for 300 ms, or at once if its figures are loaded already. Only then should it
 * request figures: rows that are scrolled past need none.
 */
export function useIsSettled(instanceId: string): boolean {
  const client = useQueryClient();
  const [isSettled, setIsSettled] = useState(() => client.getQueryData(keyOf(instanceId)) !== undefined);
  useEffect(() => {
    if (isSettled) return;
    const timer = window.setTimeout(() => setIsSettled(true), SETTLE_MS);
    return () => window.clearTimeout(timer);
  }, [isSettled]);
  return isSettled;
}

/** The figures of the past hour for a row, requested together with those of other rows. Null if there are none. */
export function useRowMetrics(instanceId: string) {
  return useQuery({
    queryKey: keyOf(instanceId),
    queryFn: () => loadRow(instanceId),
    staleTime: MINUTE_MS,
  });
}
