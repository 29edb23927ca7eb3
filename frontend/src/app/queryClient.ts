// Defaults of every query: a request that the API refused is not repeated, and nothing polls while the API is down.
import { MutationCache, QueryCache, QueryClient } from '@tanstack/react-query';
import { connection } from '@/api/connection';
import { ApiError, ConnectionLost } from '@/api/errors';

const MOST_RETRIES = 3;

/**
 * True if the server refused a request because it has too many at the moment. It has not acted on the request, so even
 * a write can be repeated.
 */
function isBusy(error: Error): boolean {
  return error instanceof ApiError && error.code === 'busy';
}

function shouldRetry(failures: number, error: Error): boolean {
  if (error instanceof ConnectionLost) return false;
  if (isBusy(error)) return failures < MOST_RETRIES;
  return error instanceof ApiError && error.status >= 500 && failures < 1;
}

/**
 * After a 401, refetches the session, which leads to the login page if the session has ended. The 401 alone does not
 * prove that: a request that was under way while a new password replaced the session cookie is refused, too.
 */
function noteEndedSession(error: Error) {
  if (error instanceof ApiError && error.status === 401)
    void queryClient.invalidateQueries({ queryKey: ['session'] });
}

export const queryClient: QueryClient = new QueryClient({
  queryCache: new QueryCache({ onError: noteEndedSession }),
  mutationCache: new MutationCache({ onError: noteEndedSession }),
  defaultOptions: {
    // Send requests even if the browser believes that it is offline, so that a missing answer is reported instead of
    // waited for.
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
