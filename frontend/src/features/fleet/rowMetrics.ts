// The past hour of one row. Asked for only once the row has been on screen for a moment, so that scrolling
// through thousands of rows does not ask for each of them.
import { useQuery } from '@tanstack/react-query';
import { useEffect, useState } from 'react';
import { api, unwrap } from '@/api/client';

const SETTLE_MS = 300;
const MINUTE_MS = 60_000;
const POINTS = 30;

export function useRowMetrics(instanceId: string) {
  const [isSettled, setIsSettled] = useState(false);
  useEffect(() => {
    const timer = window.setTimeout(() => setIsSettled(true), SETTLE_MS);
    return () => window.clearTimeout(timer);
  }, [instanceId]);
  return useQuery({
    queryKey: ['metrics', 'row', instanceId],
    queryFn: ({ signal }) =>
      unwrap(
        api.GET('/api/v1/instances/{id}/metrics', {
          params: { path: { id: instanceId }, query: { names: 'hit_ratio,hits_per_second', points: POINTS } },
          signal,
        }),
      ),
    enabled: isSettled,
    staleTime: MINUTE_MS,
  });
}
