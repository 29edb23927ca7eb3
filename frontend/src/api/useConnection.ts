import { useQueryClient } from '@tanstack/react-query';
import { useEffect, useSyncExternalStore } from 'react';
import { connection } from './connection';

/** True while the API does not answer. Renders again when that changes. */
export function useIsConnectionLost(): boolean {
  return useSyncExternalStore(connection.subscribe, connection.isLost);
}

/** Refetches every active query whenever the API answers after an outage. Used once, in the frame of all pages. */
export function useRefetchAfterOutage(): void {
  const client = useQueryClient();
  useEffect(() => {
    return connection.subscribe(() => {
      if (!connection.isLost()) void client.invalidateQueries();
    });
  }, [client]);
}

/** The polling interval of data that pushed events update as well. */
export const SLOW_POLL_MS = 60_000;

/** A `refetchInterval` that polls every `intervalMs`, but not while the API is down. */
export function pollEvery(intervalMs: number) {
  return () => (connection.isLost() ? false : intervalMs);
}
