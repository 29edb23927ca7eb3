// Polled samples, pushed by the event stream. While a page is subscribed, it does not request figures that an event has
// already brought.
import { useEffect, useState } from 'react';
import { listen } from './eventStream';
import type { components } from './schema.gen';

/** One poll of all instances by the control plane: its time, and the values of the instances that were asked for. */
export type Round = components['schemas']['StreamedSamples'];

/**
 * Subscribes to the polled samples of these instances while `isWanted`. Returns true while the stream is connected.
 * `onRound` must keep its identity between renders. It receives each round, that is, each poll of the servers, and null
 * when the stream connects: rounds may have been missed, so figures have to be requested again.
 */
export function useSamples(
  instanceIds: string[],
  onRound: (round: Round | null) => void,
  isWanted = true,
): boolean {
  const [isConnected, setIsConnected] = useState(false);
  const named = instanceIds.join(',');
  useEffect(() => {
    if (!isWanted) return;
    const end = listen({
      topics: { samples: (data) => onRound(data as Round) },
      instances: named.split(','),
      onConnection: (isConnectedNow) => {
        setIsConnected(isConnectedNow);
        if (isConnectedNow) onRound(null);
      },
    });
    return () => {
      end();
      setIsConnected(false);
    };
  }, [named, onRound, isWanted]);
  return isConnected;
}
