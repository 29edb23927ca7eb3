import { api, unwrap } from '@/api/client';
import { PAGE_SIZE, pagedQuery } from '@/api/pages';
import { useRefetchingMutation } from '@/api/useRefetchingMutation';
import type { components } from '@/api/schema.gen';

type Schemas = components['schemas'];
export type User = Schemas['User'];
export type Ended = Schemas['Ended'];
export type Token = Schemas['Token'];
export type OwnSession = Schemas['OwnSession'];
export type UserDraft = Schemas['UserCreateRequest'];
export type UserPatch = Schemas['PatchedUserUpdateRequest'];
export type AccessKey = Schemas['AccessKey'];
export type AccessKeyDraft = Schemas['AccessKeyCreateRequest'];
export type TokenDraft = Schemas['TokenCreateRequest'];

export const usersQuery = pagedQuery<User>(['user'], (cursor) =>
  unwrap(api.GET('/api/v1/users', { params: { query: { cursor, limit: PAGE_SIZE } } })),
);

export const tokensQuery = pagedQuery<Token>(['token'], (cursor) =>
  unwrap(api.GET('/api/v1/tokens', { params: { query: { cursor, limit: PAGE_SIZE } } })),
);

export const accessKeysQuery = pagedQuery<AccessKey>(['access-key'], (cursor) =>
  unwrap(api.GET('/api/v1/access-keys', { params: { query: { cursor, limit: PAGE_SIZE } } })),
);

export const sessionsQuery = pagedQuery<OwnSession>(['own-session'], (cursor) =>
  unwrap(api.GET('/api/v1/sessions', { params: { query: { cursor, limit: PAGE_SIZE } } })),
);

export function useSessionEnd() {
  return useRefetchingMutation(['own-session'], ({ id }: OwnSession) =>
    unwrap(api.DELETE('/api/v1/sessions/{id}', { params: { path: { id } } })),
  );
}

export function useOtherSessionsEnd() {
  return useRefetchingMutation(['own-session'], () => unwrap(api.DELETE('/api/v1/sessions/others')));
}

function ifMatch(user: User) {
  return { path: { id: user.id }, header: { 'If-Match': `"${user.version}"` } };
}

export function useUserCreate() {
  return useRefetchingMutation(['user'], (body: UserDraft) => unwrap(api.POST('/api/v1/users', { body })));
}

export function useUserUpdate() {
  return useRefetchingMutation(['user'], ({ user, patch }: { user: User; patch: UserPatch }) =>
    unwrap(api.PATCH('/api/v1/users/{id}', { params: ifMatch(user), body: patch })),
  );
}

export function useUserDelete() {
  return useRefetchingMutation(['user'], (user: User) =>
    unwrap(api.DELETE('/api/v1/users/{id}', { params: ifMatch(user) })),
  );
}

export function usePasswordChange() {
  return useRefetchingMutation(
    ['session', 'own-session', 'token', 'access-key'],
    (body: Schemas['PasswordChangeRequest']) => unwrap(api.POST('/api/v1/auth/password', { body })),
  );
}

export function useTokenCreate() {
  return useRefetchingMutation(['token'], (body: TokenDraft) => unwrap(api.POST('/api/v1/tokens', { body })));
}

export function useTokenRevoke() {
  return useRefetchingMutation(['token'], (token: Token) =>
    unwrap(api.DELETE('/api/v1/tokens/{id}', { params: { path: { id: token.id } } })),
  );
}

export function useAccessKeyCreate() {
  return useRefetchingMutation(['access-key'], (body: AccessKeyDraft) =>
    unwrap(api.POST('/api/v1/access-keys', { body })),
  );
}

export function useAccessKeySwitch() {
  return useRefetchingMutation(['access-key'], ({ id, is_active }: AccessKey) =>
    unwrap(
      api.PATCH('/api/v1/access-keys/{id}', { params: { path: { id } }, body: { is_active: !is_active } }),
    ),
  );
}

export function useAccessKeyDelete() {
  return useRefetchingMutation(['access-key'], ({ id }: AccessKey) =>
    unwrap(api.DELETE('/api/v1/access-keys/{id}', { params: { path: { id } } })),
  );
}
