// Polled samples, pushed by the event stream. While a page is subscribed, it does not request figures that an event has
// already brought.
import { useEffect, useState } from 'react';
import { listen } from './eventStream';
import type { components } from './schema.gen';

export type Round = components['schemas']['StreamedSamples'];

/**
 * Returns whether the stream of samples is connected. `onRound` must keep its identity between renders. It receives
 * each round, and null when the stream connects, because a round may have been missed before.
 */
export function useSamples(
  instanceIds: string[],
  onRound: (round: Round | null) => void,
  isWanted = true,
): boolean {
  const [isHeard, setIsHeard] = useState(false);
  const named = instanceIds.join(',');
  useEffect(() => {
    if (!isWanted) return;
    const end = listen({
      topics: { samples: (data) => onRound(data as Round) },
      instances: named.split(','),
      onHeard: (isHeardNow) => {
        setIsHeard(isHeardNow);
        if (isHeardNow) onRound(null);
      },
    });
    return () => {
      end();
      setIsHeard(false);
    };
  }, [named, onRound, isWanted]);
  return isHeard;
}
