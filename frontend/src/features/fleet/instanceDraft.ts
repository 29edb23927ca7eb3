// What the form of a new instance holds, and the request it makes.
import type { components } from '@/api/schema.gen';

type InstanceRequest = components['schemas']['InstanceCreateRequest'];

export interface InstanceDraft {
  provider: string;
  name: string;
  instanceClass: string | null;
  host: string;
  port: number;
  username: string;
  password: string;
  isTlsRequired: boolean;
  tags: string;
}

export const emptyDraft: InstanceDraft = {
  provider: 'external',
  name: '',
  instanceClass: null,
  host: '127.0.0.1',
  port: 3306,
  username: '',
  password: '',
  isTlsRequired: false,
  tags: '',
};

/** `env:prod, team:pay` as an object; undefined when a part is not name:value. */
export function readTags(text: string): Record<string, string> | undefined {
  const parts = text.split(',').map((part) => part.trim());
  const pairs = parts.filter(Boolean).map((part) => /^([^:]+):(.*)$/.exec(part));
  if (pairs.some((pair) => pair === null)) return undefined;
  return Object.fromEntries(
    pairs.flatMap((pair) => (pair ? [[(pair[1] ?? '').trim(), (pair[2] ?? '').trim()]] : [])),
  );
}

export function requestOf(draft: InstanceDraft): InstanceRequest {
  const shared = {
    name: draft.name,
    instance_class: draft.instanceClass ?? '',
    tags: readTags(draft.tags) ?? {},
  };
  if (draft.provider === 'local') return { ...shared, provider: 'local' } as InstanceRequest;
  return {
    ...shared,
    provider: 'external',
    host: draft.host,
    port: draft.port,
    username: draft.username,
    password: draft.password,
    is_tls_required: draft.isTlsRequired,
  } as InstanceRequest;
}
