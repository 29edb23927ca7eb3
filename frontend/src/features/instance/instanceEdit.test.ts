import { expect, test } from 'vitest';
import type { Instance } from '@/api/instances';
import { editOf, isMoved, patchOf } from './instanceEdit';

const instance = {
  name: 'shop-1',
  tags: { env: 'prod' },
  is_catalogue_source: false,
  maintenance_window: { weekday: null, start: '02:00:00', minutes: 60 },
  endpoint: { host: 'db.example', port: 3306, username: 'fqc', trial_username: '', is_tls_required: true },
} as unknown as Instance;

test('what was not touched is not sent', () => {
  expect(patchOf(editOf(instance), instance)).toEqual({});
});

test('the trial account is sent with its password', () => {
  const edit = { ...editOf(instance), trialUsername: 'fqc_trial', trialPassword: 'new' };
  expect(patchOf(edit, instance)).toEqual({ trial_username: 'fqc_trial', trial_password: 'new' });
  const named = { ...instance, endpoint: { ...instance.endpoint, trial_username: 'fqc_trial' } } as Instance;
  expect(patchOf({ ...editOf(named), trialUsername: '' }, named)).toEqual({ trial_username: '' });
});

test('a server becomes a source of definitions, or ends to be one, by a field of its own', () => {
  const edit = { ...editOf(instance), isCatalogueSource: true };
  expect(patchOf(edit, instance)).toEqual({ is_catalogue_source: true });
  expect(isMoved(edit, instance)).toBe(false);
});

test('the maintenance window is sent whole, a password only when there is one', () => {
  const edit = { ...editOf(instance), weekday: '6', tags: 'env:prod, team:pay', password: 'new' };
  expect(patchOf(edit, instance)).toEqual({
    tags: { env: 'prod', team: 'pay' },
    maintenance_window: { weekday: 6, start: '02:00', minutes: 60 },
    password: 'new',
  });
});

test.each([
  { host: 'other.example' },
  { port: 3307 },
  { username: 'root' },
  { isTlsRequired: false },
  { tlsCa: 'PEM' },
  { publicKey: 'PEM' },
])('the password is due with %o', (moved) => {
  expect(isMoved({ ...editOf(instance), ...moved }, instance)).toBe(true);
});

test('the password is not due with another name or other tags', () => {
  const edit = { ...editOf(instance), name: 'shop-2', tags: 'env:test', weekday: '6' };
  expect(isMoved(edit, instance)).toBe(false);
});
