import { expect, test } from 'vitest';
import type { Channel } from './channelApi';
import { channelDraftOf, channelRequest, isSecretDue, newChannel } from './channelDraft';

const stored = {
  name: 'ops',
  kind: 'webhook',
  url: 'https://example.com/hook',
  has_secret: true,
  recipients: [],
  tags: { team: 'shop' },
  least_severity: 'critical',
  is_enabled: true,
} as unknown as Channel;

test('a stored channel is sent back as it was, and without its secret', () => {
  const request = channelRequest(channelDraftOf(stored));
  expect(request).toEqual({
    name: 'ops',
    kind: 'webhook',
    url: 'https://example.com/hook',
    recipients: [],
    tags: { team: 'shop' },
    least_severity: 'critical',
    is_enabled: true,
  });
});

test('the secret is due for a new channel, and for another address', () => {
  const draft = channelDraftOf(stored);
  expect(isSecretDue(newChannel)).toBe(true);
  expect(isSecretDue(draft, stored)).toBe(false);
  expect(isSecretDue({ ...draft, url: 'https://elsewhere.example/' }, stored)).toBe(true);
  expect(isSecretDue({ ...newChannel, kind: 'mail' })).toBe(false);
});

test('a channel sends nothing that is not of its kind', () => {
  const draft = {
    ...newChannel,
    url: 'https://example.com/',
    secret: 'x',
    recipients: 'a@example.com, b@example.com',
  };
  expect(channelRequest({ ...draft, kind: 'mail' })).toMatchObject({
    url: '',
    recipients: ['a@example.com', 'b@example.com'],
  });
  expect(channelRequest({ ...draft, kind: 'mail' })).not.toHaveProperty('secret');
  expect(channelRequest({ ...draft, kind: 'slack' })).toMatchObject({ url: '', secret: 'x', recipients: [] });
});
