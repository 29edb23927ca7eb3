// Defaults of every query: what the API refused is not asked again, and nothing polls while the API is down.
import { MutationCache, QueryCache, QueryClient } from '@tanstack/react-query';
import { connection } from '@/api/connection';
import { ApiError, ConnectionLost } from '@/api/errors';

function shouldRetry(failures: number, error: Error): boolean {
  if (error instanceof ConnectionLost) return false;
  return error instanceof ApiError && error.status >= 500 && failures < 1;
}

/** A session that ended anywhere ends everywhere: the session query then leads to the login page. */
function noteEndedSession(error: Error) {
  if (error instanceof ApiError && error.status === 401) queryClient.setQueryData(['session'], null);
}

export const queryClient: QueryClient = new QueryClient({
  queryCache: new QueryCache({ onError: noteEndedSession }),
  mutationCache: new MutationCache({ onError: noteEndedSession }),
  defaultOptions: {
    queries: { retry: shouldRetry, staleTime: 5_000, refetchOnWindowFocus: () => !connection.isLost() },
    mutations: { retry: false },
  },
});
