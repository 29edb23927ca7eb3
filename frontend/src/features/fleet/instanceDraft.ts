// What the form of a new instance holds, and the request it makes.
import type { components } from '@/api/schema.gen';
import type { Endpoint } from '@/components/EndpointFields';
import { readTags } from '@/lib/tags';

export type InstanceRequest = components['schemas']['InstanceCreateRequest'];

export interface InstanceDraft extends Endpoint {
  provider: string;
  name: string;
  instanceClass: string | null;
  /** Of a local one. */
  product: string;
  tags: string;
}

export const emptyDraft: InstanceDraft = {
  provider: 'external',
  name: '',
  instanceClass: null,
  product: 'MariaDB',
  host: '127.0.0.1',
  port: 3306,
  username: '',
  password: '',
  trialUsername: '',
  trialPassword: '',
  isTlsRequired: false,
  publicKey: '',
  tags: '',
};

export function requestOf(draft: InstanceDraft): InstanceRequest {
  const shared = {
    name: draft.name,
    instance_class: draft.instanceClass ?? '',
    tags: readTags(draft.tags) ?? {},
  };
  if (draft.provider === 'local') {
    return { ...shared, provider: 'local', product: draft.product } as InstanceRequest;
  }
  return {
    ...shared,
    provider: 'external',
    host: draft.host,
    port: draft.port,
    username: draft.username,
    password: draft.password,
    ...(draft.trialUsername && {
      trial_username: draft.trialUsername,
      trial_password: draft.trialPassword,
    }),
    is_tls_required: draft.isTlsRequired,
    ...(draft.publicKey && { public_key: draft.publicKey }),
  } as InstanceRequest;
}
