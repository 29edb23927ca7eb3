// The settings form as text, and the patch of what was changed in it. Pure.
import type { Settings, SettingsPatch } from './api';

const LISTS = ['endpoint_networks', 'channel_networks', 'mail_to'] as const;
type ListName = (typeof LISTS)[number];
type NumberName =
  | 'poll_interval_seconds'
  | 'raw_retention_hours'
  | 'minute_retention_days'
  | 'hour_retention_days'
  | 'smtp_port';
type TextName = 'smtp_host' | 'smtp_username' | 'mail_from' | 'smtp_security' | 'trial_role';

export type SettingsDraft = Record<ListName | TextName, string> &
  Record<NumberName, number> & { is_four_eyes: boolean; smtp_password: string };

export function readList(text: string): string[] {
  return text.split(/[\s,]+/).filter(Boolean);
}

export function draftOf(settings: Settings): SettingsDraft {
  const { endpoint_networks, channel_networks = [], mail_to } = settings;
  return {
    is_four_eyes: settings.is_four_eyes ?? false,
    trial_role: settings.trial_role ?? 'operator',
    endpoint_networks: endpoint_networks.join('\n'),
    channel_networks: channel_networks.join('\n'),
    mail_to: mail_to.join('\n'),
    poll_interval_seconds: settings.poll_interval_seconds ?? 0,
    raw_retention_hours: settings.raw_retention_hours ?? 0,
    minute_retention_days: settings.minute_retention_days ?? 0,
    hour_retention_days: settings.hour_retention_days ?? 0,
    smtp_port: settings.smtp_port ?? 25,
    smtp_host: settings.smtp_host ?? '',
    smtp_username: settings.smtp_username ?? '',
    mail_from: settings.mail_from ?? '',
    smtp_security: settings.smtp_security ?? '',
    smtp_password: '',
  };
}

/**
 * True if a password is stored that would now go to another mail server, or be sent in another way. The API then
 * demands that it is entered again.
 */
export function isMailMoved(draft: SettingsDraft, settings: Settings): boolean {
  const before = draftOf(settings);
  const receiver = ['smtp_host', 'smtp_port', 'smtp_security'] as const;
  return (
    settings.has_smtp_password &&
    draft.smtp_host !== '' &&
    receiver.some((name) => draft[name] !== before[name])
  );
}

/** The request with only the edited settings. An empty password is left out, which keeps the stored one. */
export function patchOf(draft: SettingsDraft, settings: Settings): SettingsPatch {
  const before = draftOf(settings);
  const changed = (Object.keys(draft) as (keyof SettingsDraft)[]).filter(
    (name) => draft[name] !== before[name],
  );
  const isList = (name: string): name is ListName => LISTS.some((list) => list === name);
  const pairs = changed.map((name) => [name, isList(name) ? readList(draft[name]) : draft[name]] as const);
  return Object.fromEntries(pairs) as SettingsPatch;
}
