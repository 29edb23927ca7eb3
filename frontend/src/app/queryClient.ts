// Defaults of every query: what the API refused is not asked again, and nothing polls while the API is down.
import { MutationCache, QueryCache, QueryClient } from '@tanstack/react-query';
import { connection } from '@/api/connection';
import { ApiError, ConnectionLost } from '@/api/errors';

const MOST_RETRIES = 3;

/** The server has done nothing yet: too many requests came at once, or too many passwords. */
function isBusy(error: Error): boolean {
  return error instanceof ApiError && error.code === 'busy';
}

function shouldRetry(failures: number, error: Error): boolean {
  if (error instanceof ConnectionLost) return false;
  if (isBusy(error)) return failures < MOST_RETRIES;
  return error instanceof ApiError && error.status >= 500 && failures < 1;
}

/**
 * A session that ended anywhere ends everywhere: the session query then leads to the login page. It is asked: what was under way
 * while a new password gave the session another cookie is refused, though nobody was logged out.
 */
function noteEndedSession(error: Error) {
  if (error instanceof ApiError && error.status === 401)
    void queryClient.invalidateQueries({ queryKey: ['session'] });
}

export const queryClient: QueryClient = new QueryClient({
  queryCache: new QueryCache({ onError: noteEndedSession }),
  mutationCache: new MutationCache({ onError: noteEndedSession }),
  defaultOptions: {
    // Asked also where the browser takes itself for offline: what is not answered is told, not waited for.
    queries: {
      networkMode: 'always',
      retry: shouldRetry,
      staleTime: 5_000,
      refetchOnWindowFocus: () => !connection.isLost(),
    },
    mutations: {
      networkMode: 'always',
      retry: (failures, error) => isBusy(error) && failures < MOST_RETRIES,
    },
  },
});
