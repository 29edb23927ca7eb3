// The form of an instance's stored facts, and the patch with what was changed. Pure.
import type { Instance } from '@/api/instances';
import type { components } from '@/api/schema.gen';
import type { Endpoint } from '@/components/EndpointFields';
import { readTags, writeTags } from '@/lib/tags';

export type InstancePatch = components['schemas']['PatchedInstanceUpdateRequest'];

export interface InstanceEdit extends Endpoint {
  name: string;
  tags: string;
  /** The day of the maintenance window: 0 is Monday; empty means every day. */
  weekday: string;
  start: string;
  minutes: number;
  isCatalogueSource: boolean;
}

export function editOf(instance: Instance): InstanceEdit {
  const { endpoint, maintenance_window: window } = instance;
  return {
    name: instance.name,
    tags: writeTags(instance.tags),
    weekday: window.weekday === null ? '' : String(window.weekday),
    start: window.start.slice(0, 5),
    minutes: window.minutes,
    isCatalogueSource: instance.is_catalogue_source,
    host: endpoint.host,
    port: endpoint.port,
    username: endpoint.username,
    password: '',
    trialUsername: endpoint.trial_username,
    trialPassword: '',
    isTlsRequired: endpoint.is_tls_required,
    tlsCa: '',
    publicKey: '',
  };
}

/**
 * True if address, account, TLS, its authority or the key were edited, so that the stored password would go elsewhere or be sent in
 * another way. The API then demands that it is entered again.
 */
export function isMoved(edit: InstanceEdit, instance: Instance): boolean {
  const before = editOf(instance);
  return (['host', 'port', 'username', 'isTlsRequired', 'tlsCa', 'publicKey'] as const).some(
    (name) => edit[name] !== before[name],
  );
}

/** The request with only the edited fields. An empty password is left out, which keeps the stored one. */
export function patchOf(edit: InstanceEdit, instance: Instance): InstancePatch {
  const before = editOf(instance);
  const isChanged = (...names: (keyof InstanceEdit)[]) => names.some((name) => edit[name] !== before[name]);
  const { name, host, port, username, password, trialUsername, trialPassword } = edit;
  const weekday = edit.weekday === '' ? null : Number(edit.weekday);
  return {
    ...(isChanged('name') && { name }),
    ...(isChanged('tags') && { tags: readTags(edit.tags) ?? {} }),
    ...(isChanged('weekday', 'start', 'minutes') && {
      maintenance_window: { weekday, start: edit.start, minutes: edit.minutes },
    }),
    ...(isChanged('host') && { host }),
    ...(isChanged('port') && { port }),
    ...(isChanged('username') && { username }),
    ...(password && { password }),
    ...(isChanged('trialUsername') && { trial_username: trialUsername }),
    ...(trialPassword && { trial_username: trialUsername, trial_password: trialPassword }),
    ...(isChanged('isTlsRequired') && { is_tls_required: edit.isTlsRequired }),
    ...(isChanged('tlsCa') && { tls_ca: edit.tlsCa }),
    ...(isChanged('publicKey') && { public_key: edit.publicKey }),
    ...(isChanged('isCatalogueSource') && { is_catalogue_source: edit.isCatalogueSource }),
  };
}
