// The rounds of polls as they are told: while a page listens, it asks for no figures that an event has brought.
import { useEffect, useState } from 'react';
import { listen } from './eventStream';
import type { components } from './schema.gen';

export type Round = components['schemas']['StreamedSamples'];

/**
 * Whether rounds are heard. `onRound`, which has to stay the same function, gets each of them, and null when they begin to
 * be heard: one may have passed before.
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
