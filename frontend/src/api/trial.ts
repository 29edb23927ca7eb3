// Runs one statement with and without the cache, in sessions of its own.
import { api, unwrap } from './client';
import { useActed } from './useActed';

export interface TrialDraft {
  statement: string;
  database: string;
  repetitions: number;
}

export function useTrial(id: string) {
  return useActed([], ({ statement, database, repetitions }: TrialDraft) =>
    unwrap(
      api.POST('/api/v1/instances/{id}/cache/trial', {
        params: { path: { id } },
        body: { statement, repetitions, ...(database && { database }) },
      }),
    ),
  );
}
