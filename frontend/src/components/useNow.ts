import { useEffect, useState } from 'react';

/** The current time, updated every `intervalMs`; without an interval it is read once. */
export function useNow(intervalMs?: number): number {
  const [now, setNow] = useState(() => Date.now());
  useEffect(() => {
    if (!intervalMs) return;
    const timer = window.setInterval(() => setNow(Date.now()), intervalMs);
    return () => window.clearInterval(timer);
  }, [intervalMs]);
  return now;
}
