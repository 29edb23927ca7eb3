// The only API client, typed from the generated schema. Every response passes through it. It reports to the connection
// banner whether the API answers, adds the CSRF token to writes, and turns problem+json into ApiError.
import createClient, { type Middleware } from 'openapi-fetch';
import { connection } from './connection';
import { ApiError, ConnectionLost, type Problem } from './errors';
import type { paths } from './schema.gen';

const SAFE_METHODS = ['GET', 'HEAD', 'OPTIONS'];
const GATEWAY_FAILURES = [502, 503, 504];

let csrfToken = '';

/** Sets the token that every later write sends. The session's response has it; without it the API refuses writes. */
export function rememberCsrfToken(token: string): void {
  csrfToken = token;
}

const frame: Middleware = {
  onRequest({ request }) {
    if (!SAFE_METHODS.includes(request.method)) request.headers.set('X-CSRFToken', csrfToken);
    return request;
  },
  onResponse({ response }) {
    if (isFromProxy(response)) {
      connection.reportLost();
      throw new ConnectionLost();
    }
    connection.reportReached();
  },
  onError({ error }) {
    if (error instanceof DOMException && error.name === 'AbortError') return error;
    connection.reportLost();
    return new ConnectionLost();
  },
};

/** True for a gateway error status without a problem body: a proxy answered because it could not reach the API. */
function isFromProxy(response: Response): boolean {
  const type = response.headers.get('content-type') ?? '';
  return GATEWAY_FAILURES.includes(response.status) && !type.includes('json');
}

export const api = createClient<paths>({ credentials: 'same-origin' });
api.use(frame);

connection.setProbe(async () => {
  try {
    return (await fetch('/readyz', { cache: 'no-store' })).ok;
  } catch {
    return false;
  }
});

interface Answer<T> {
  data?: T;
  error?: unknown;
  response: Response;
}

function isProblem(value: unknown): value is Problem {
  return typeof value === 'object' && value !== null;
}

/**
 * The error of a response that is not ok. `error` is its parsed body: a problem document, or any text, which then
 * becomes the message.
 */
export function problemOf(error: unknown, response: Response): ApiError {
  const problem = isProblem(error)
    ? error
    : { detail: typeof error === 'string' && error ? error : response.statusText };
  return new ApiError(response.status, problem, response.headers.get('x-request-id') ?? undefined);
}

/**
 * Waits for a response and returns its data. Throws ApiError if the API refused the request. If the API was not
 * reached, the promise rejects with ConnectionLost.
 */
export async function unwrap<T>(answer: Promise<Answer<T>>): Promise<T> {
  const { data, error, response } = await answer;
  if (!response.ok) throw problemOf(error, response);
  return data as T;
}

/**
 * Waits for a response, and returns its data and its ETag. Throws ApiError if the API refused the request. The ETag is
 * the version of what was read: a later write sends it as If-Match, and is refused if there is another version by then.
 * It is `*`, which matches any version, if the response has none.
 */
export async function unwrapWithEtag<T>(answer: Promise<Answer<T>>): Promise<{ data: T; etag: string }> {
  const { data, error, response } = await answer;
  if (!response.ok) throw problemOf(error, response);
  return { data: data as T, etag: response.headers.get('etag') ?? '*' };
}
