import { expect, test } from 'vitest';
import { auditDiff } from './auditDiff';

test('changed fields come first', () => {
  expect(auditDiff({ name: 'a', role: 'viewer' }, { name: 'a', role: 'admin' })).toEqual([
    { field: 'role', before: 'viewer', after: 'admin', isChanged: true },
    { field: 'name', before: 'a', after: 'a', isChanged: false },
  ]);
});

test('a creation and a removal have one empty side', () => {
  expect(auditDiff(null, { tags: { env: 'prod' } })[0]).toMatchObject({
    before: '',
    after: '{"env":"prod"}',
  });
  expect(auditDiff({ id: 1 }, null)[0]).toMatchObject({ before: '1', after: '' });
});

test('of what came into being nothing stands out', () => {
  expect(auditDiff(null, { name: 'a', role: 'viewer' }).some(({ isChanged }) => isChanged)).toBe(false);
});
