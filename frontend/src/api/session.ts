// The session: which user is logged in and what the role allows. The server checks every request; the console only uses
// this to decide what to offer.
import { queryOptions, useQuery } from '@tanstack/react-query';
import { api, rememberCsrfToken, unwrap } from './client';
import type { components } from './schema.gen';

export type Session = components['schemas']['Session'];
export type Role = 'viewer' | 'operator' | 'admin';

const ORDER: Role[] = ['viewer', 'operator', 'admin'];

/** Requests the session, and keeps its CSRF token for later writes. Null if no user is logged in. */
export async function readSession(): Promise<Session | null> {
  const session = await unwrap(api.GET('/api/v1/auth/session'));
  rememberCsrfToken(session.csrf_token);
  return session.is_authenticated ? session : null;
}

export const sessionQuery = queryOptions({ queryKey: ['session'], queryFn: readSession, staleTime: 60_000 });

/** Logs in and returns the session. First requests a CSRF token, which a log-in needs too. */
export async function logIn(username: string, password: string): Promise<Session> {
  await readSession();
  const session = await unwrap(api.POST('/api/v1/auth/session', { body: { username, password } }));
  rememberCsrfToken(session.csrf_token);
  return session;
}

/** The session's response with the log-in methods that this server offers. It is answered without a log-in, too. */
export const waysInQuery = queryOptions({
  queryKey: ['waysIn'],
  queryFn: () => unwrap(api.GET('/api/v1/auth/session')),
});

/**
 * Starts a log-in with the identity provider, and returns the URL that the browser has to open for it. Afterwards the
 * browser comes back to `next`, a path of this console.
 */
export async function providerUrl(next: string): Promise<string> {
  await readSession();
  return (await unwrap(api.POST('/api/v1/auth/provider', { body: { next } }))).url;
}

export async function logOut(): Promise<void> {
  await unwrap(api.DELETE('/api/v1/auth/session'));
}

/** True if the role `held` allows what the role `wanted` does. False without a role. */
export function covers(held: Role | null | undefined, wanted: Role): boolean {
  return held ? ORDER.indexOf(held) >= ORDER.indexOf(wanted) : false;
}

/** True if the logged-in user's role is at least `wanted`; false while the session loads. */
export function useCan(wanted: Role): boolean {
  const { data } = useQuery(sessionQuery);
  return covers(data?.role as Role | undefined, wanted);
}
