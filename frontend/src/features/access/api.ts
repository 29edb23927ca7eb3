import { useMutation, useQueryClient } from '@tanstack/react-query';
import { api, unwrap } from '@/api/client';
import { PAGE_SIZE, pagedQuery } from '@/api/pages';
import type { components } from '@/api/schema.gen';

type Schemas = components['schemas'];
export type User = Schemas['User'];
export type Token = Schemas['Token'];
export type UserDraft = Schemas['UserCreateRequest'];
export type UserPatch = Schemas['PatchedUserUpdateRequest'];
export type TokenDraft = Schemas['TokenCreateRequest'];

export const usersQuery = pagedQuery<User>(['user'], (cursor) =>
  unwrap(api.GET('/api/v1/users', { params: { query: { cursor, limit: PAGE_SIZE } } })),
);

export const tokensQuery = pagedQuery<Token>(['token'], (cursor) =>
  unwrap(api.GET('/api/v1/tokens', { params: { query: { cursor, limit: PAGE_SIZE } } })),
);

function ifMatch(user: User) {
  return { path: { id: user.id }, header: { 'If-Match': `"${user.version}"` } };
}

function useRefreshing<Input, Output>(key: string, mutationFn: (input: Input) => Promise<Output>) {
  const client = useQueryClient();
  return useMutation({ mutationFn, onSuccess: () => client.invalidateQueries({ queryKey: [key] }) });
}

export function useUserCreate() {
  return useRefreshing('user', (body: UserDraft) => unwrap(api.POST('/api/v1/users', { body })));
}

export function useUserUpdate() {
  return useRefreshing('user', ({ user, patch }: { user: User; patch: UserPatch }) =>
    unwrap(api.PATCH('/api/v1/users/{id}', { params: ifMatch(user), body: patch })),
  );
}

export function useUserDelete() {
  return useRefreshing('user', (user: User) =>
    unwrap(api.DELETE('/api/v1/users/{id}', { params: ifMatch(user) })),
  );
}

export function useTokenCreate() {
  return useRefreshing('token', (body: TokenDraft) => unwrap(api.POST('/api/v1/tokens', { body })));
}

export function useTokenRevoke() {
  return useRefreshing('token', (token: Token) =>
    unwrap(api.DELETE('/api/v1/tokens/{id}', { params: { path: { id: token.id } } })),
  );
}
