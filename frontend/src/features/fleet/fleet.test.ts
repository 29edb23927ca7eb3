import { expect, test } from 'vitest';
import { readTags, writeTags } from '@/lib/tags';
import { requestOf, emptyDraft } from './instanceDraft';
import { fleetSearch } from './search';

test('filters of an address are read, the rest is dropped', () => {
  expect(fleetSearch({ state: 'running', drifted: true, search: 'db', colour: 'red' })).toMatchObject({
    state: 'running',
    drifted: true,
    search: 'db',
  });
  expect(fleetSearch({ state: 'asleep' }).state).toBeUndefined();
});

test('tags are name:value, and anything else is told', () => {
  expect(readTags('env:prod, note:a:b')).toEqual({ env: 'prod', note: 'a:b' });
  expect(readTags('')).toEqual({});
  expect(readTags('prod')).toBeUndefined();
  expect(readTags(writeTags({ env: 'prod', note: 'a:b' }))).toEqual({ env: 'prod', note: 'a:b' });
});

test('a local server is asked for without an endpoint', () => {
  const request = requestOf({ ...emptyDraft, provider: 'local', name: 'db-1', instanceClass: 'small' });
  const local = { provider: 'local', name: 'db-1', instance_class: 'small', tags: {} };
  expect(request).toEqual({ ...local, product: 'MariaDB' });
});
