// The session: which user is logged in and what the role allows. The server checks every request; the console only uses
// this to decide what to offer.
import { queryOptions, useQuery } from '@tanstack/react-query';
import { api, rememberCsrfToken, unwrap } from './client';
import type { components } from './schema.gen';

export type Session = components['schemas']['Session'];
export type Role = 'viewer' | 'operator' | 'admin';

const ORDER: Role[] = ['viewer', 'operator', 'admin'];

export async function readSession(): Promise<Session | null> {
  const session = await unwrap(api.GET('/api/v1/auth/session'));
  rememberCsrfToken(session.csrf_token);
  return session.is_authenticated ? session : null;
}

export const sessionQuery = queryOptions({ queryKey: ['session'], queryFn: readSession, staleTime: 60_000 });

export async function logIn(username: string, password: string): Promise<Session> {
  await readSession();
  const session = await unwrap(api.POST('/api/v1/auth/session', { body: { username, password } }));
  rememberCsrfToken(session.csrf_token);
  return session;
}

/** The log-in methods that this server offers. Needs no session. */
export const waysInQuery = queryOptions({
  queryKey: ['waysIn'],
  queryFn: () => unwrap(api.GET('/api/v1/auth/session')),
});

/** The URL at which the browser signs in with the identity provider. */
export async function providerUrl(next: string): Promise<string> {
  await readSession();
  return (await unwrap(api.POST('/api/v1/auth/provider', { body: { next } }))).url;
}

export async function logOut(): Promise<void> {
  await unwrap(api.DELETE('/api/v1/auth/session'));
}

export function covers(held: Role | null | undefined, wanted: Role): boolean {
  return held ? ORDER.indexOf(held) >= ORDER.indexOf(wanted) : false;
}

export function useCan(wanted: Role): boolean {
  const { data } = useQuery(sessionQuery);
  return covers(data?.role as Role | undefined, wanted);
}
