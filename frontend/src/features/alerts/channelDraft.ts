// The form of a channel. The stored secret is never shown; an empty field keeps it. Pure.
import { readTags, writeTags } from '@/lib/tags';
import type { Channel, ChannelRequest } from './channelApi';

export const CHANNEL_KINDS = ['webhook', 'slack', 'pagerduty', 'mail'] as const;

export interface ChannelDraft {
  name: string;
  kind: Channel['kind'];
  url: string;
  secret: string;
  recipients: string;
  tags: string;
  isCriticalOnly: boolean;
  isEnabled: boolean;
}

export const newChannel: ChannelDraft = {
  name: '',
  kind: 'webhook',
  url: '',
  secret: '',
  recipients: '',
  tags: '',
  isCriticalOnly: false,
  isEnabled: true,
};

export function channelDraftOf(channel: Channel): ChannelDraft {
  return {
    name: channel.name,
    kind: channel.kind,
    url: channel.url,
    secret: '',
    recipients: channel.recipients.join(', '),
    tags: writeTags(channel.tags),
    isCriticalOnly: channel.least_severity === 'critical',
    isEnabled: channel.is_enabled,
  };
}

/** True if the form has a field for the channel's URL. The URL of a Slack channel is its secret, and mail has none. */
export function hasUrl({ kind }: ChannelDraft): boolean {
  return kind === 'webhook' || kind === 'pagerduty';
}

/**
 * True if the secret has to be entered: none is stored, or the stored one would go to another URL than before.
 * `channel` is absent for a new one.
 */
export function isSecretDue(draft: ChannelDraft, channel?: Channel): boolean {
  if (draft.kind === 'mail') return false;
  return !channel?.has_secret || (hasUrl(draft) && draft.url !== channel.url);
}

/** The request that stores the channel. An empty secret is left out, which keeps the stored one. */
export function channelRequest(draft: ChannelDraft): ChannelRequest {
  return {
    name: draft.name,
    kind: draft.kind,
    url: hasUrl(draft) ? draft.url.trim() : '',
    ...(draft.kind !== 'mail' && draft.secret ? { secret: draft.secret.trim() } : {}),
    recipients: draft.kind === 'mail' ? draft.recipients.split(/[\s,]+/).filter(Boolean) : [],
    tags: readTags(draft.tags) ?? {},
    least_severity: draft.isCriticalOnly ? 'critical' : 'warning',
    is_enabled: draft.isEnabled,
  };
}
