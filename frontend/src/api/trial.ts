// Runs one statement with and without the cache, on one connection of its own. Other sessions are not affected.
import { api, unwrap } from './client';
import { useRefetchingMutation } from './useRefetchingMutation';

/** A statement to run, the schema to run it in (empty for none), and how many times to repeat it. */
export interface TrialDraft {
  statement: string;
  database: string;
  repetitions: number;
}

/**
 * A mutation that runs a statement several times on one connection of its own to the server, with and without the
 * cache, and returns the counts of hits and the times. The request takes until all runs have ended.
 */
export function useTrial(id: string) {
  return useRefetchingMutation([], ({ statement, database, repetitions }: TrialDraft) =>
    unwrap(
      api.POST('/api/v1/instances/{id}/cache/trial', {
        params: { path: { id } },
        body: { statement, repetitions, ...(database && { database }) },
      }),
    ),
  );
}
