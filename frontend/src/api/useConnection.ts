import { useQueryClient } from '@tanstack/react-query';
import { useEffect, useSyncExternalStore } from 'react';
import { connection } from './connection';

export function useIsConnectionLost(): boolean {
  return useSyncExternalStore(connection.subscribe, connection.isLost);
}

/** Refetches every active query once the API answers after an outage. */
export function useRefetchAfterOutage(): void {
  const client = useQueryClient();
  useEffect(() => {
    return connection.subscribe(() => {
      if (!connection.isLost()) void client.invalidateQueries();
    });
  }, [client]);
}

/** The polling interval of data that events also update. */
export const CALM_MS = 60_000;

/** For `refetchInterval`: polls only while the API answers. */
export function pollEvery(intervalMs: number) {
  return () => (connection.isLost() ? false : intervalMs);
}
