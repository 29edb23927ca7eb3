// Live mode: charts continue with pushed rounds of samples. All figures are requested again when the stream connects,
// since rounds may have been missed, and then as often as without live mode.
import { useQueryClient } from '@tanstack/react-query';
import { useCallback, useState } from 'react';
import { useSamples, type Round } from '@/api/useSamples';
import { withRound } from './liveSamples';
import type { MonitoringSearch } from './search';

/** The rounds of samples (polls of the servers) that were pushed so far, and whether the stream is connected. */
export interface Live {
  rounds: Round[];
  isConnected: boolean;
}

const NONE: Round[] = [];

/**
 * Receives pushed samples of the instance, and of the compared one, while live mode is on. Without live mode there are
 * none.
 */
export function useLiveRounds(instanceId: string, { live, compare }: MonitoringSearch): Live {
  const client = useQueryClient();
  const [rounds, setRounds] = useState(NONE);
  const take = useCallback(
    (round: Round | null) => {
      if (round) setRounds((old) => withRound(old, round));
      else void client.invalidateQueries({ queryKey: ['metrics', 'instance'] });
    },
    [client],
  );
  const isConnected = useSamples(compare ? [instanceId, compare] : [instanceId], take, live ?? false);
  return { rounds: live ? rounds : NONE, isConnected };
}
