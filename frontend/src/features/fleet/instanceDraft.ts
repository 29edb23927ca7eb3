// The form of a new instance, and the request that it makes.
import type { components } from '@/api/schema.gen';
import type { ClassChoice } from '@/components/ClassField';
import type { Endpoint } from '@/components/EndpointFields';
import { readTags } from '@/lib/tags';

export type InstanceRequest = components['schemas']['InstanceCreateRequest'];

export interface InstanceDraft extends Endpoint, ClassChoice {
  provider: string;
  name: string;
  /** MariaDB or MySQL. Only used for an instance that the control plane creates on its own machine. */
  product: string;
  tags: string;
}

export const emptyDraft: InstanceDraft = {
  provider: 'external',
  name: '',
  instanceClass: null,
  memory: '',
  cpus: '',
  storage: '',
  product: 'MariaDB',
  host: '127.0.0.1',
  port: 3306,
  username: '',
  password: '',
  trialUsername: '',
  trialPassword: '',
  isTlsRequired: false,
  tlsCa: '',
  publicKey: '',
  tags: '',
};

/** The request that tests the connection to the entered server. */
export function checkRequestOf(draft: InstanceDraft) {
  return {
    host: draft.host,
    port: draft.port,
    username: draft.username,
    password: draft.password,
    is_tls_required: draft.isTlsRequired,
    tls_ca: draft.isTlsRequired ? draft.tlsCa : '',
    public_key: draft.publicKey,
  };
}

/** The request that registers the entered server, or creates one on the control plane's machine. */
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
    ...(draft.isTlsRequired && draft.tlsCa && { tls_ca: draft.tlsCa }),
    ...(draft.publicKey && { public_key: draft.publicKey }),
  } as InstanceRequest;
}
