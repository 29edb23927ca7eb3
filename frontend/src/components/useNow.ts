import { useCallback, useSyncExternalStore } from 'react';

const SECOND_MS = 1000;

/** The end of the present second: what has just been told by the API is not still to come. */
function presentSecond(): number {
  return Math.ceil(Date.now() / SECOND_MS) * SECOND_MS;
}

/** The clock: as it is whenever something else changes, and every `intervalMs` by itself. */
export function useNow(intervalMs?: number): number {
  const subscribe = useCallback(
    (tell: () => void) => {
      if (!intervalMs) return () => undefined;
      const timer = window.setInterval(tell, intervalMs);
      return () => window.clearInterval(timer);
    },
    [intervalMs],
  );
  return useSyncExternalStore(subscribe, presentSecond);
}
