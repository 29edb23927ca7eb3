import { useEffect, useState } from 'react';

/**
 * The current time in milliseconds, renewed every `intervalMs` with a render. Without an interval it stays the time of
 * the first render.
 */
export function useNow(intervalMs?: number): number {
  const [now, setNow] = useState(() => Date.now());
  useEffect(() => {
    if (!intervalMs) return;
    const timer = window.setInterval(() => setNow(Date.now()), intervalMs);
    return () => window.clearInterval(timer);
  }, [intervalMs]);
  return now;
}
