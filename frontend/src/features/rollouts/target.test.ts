import { expect, test } from 'vitest';
import { isTargetComplete, selectionOf, tallyOf } from './target';

test('a selection holds only what its kind names', () => {
  const target = { kind: 'tags' as const, instances: 'db-1 db-2', tags: 'env:prod, team:pay' };
  expect(selectionOf('tpl-1', target, true)).toEqual({
    kind: 'parameters',
    template: 'tpl-1',
    instances: [],
    tags: { env: 'prod', team: 'pay' },
    every: false,
    allow_restart: true,
  });
});

test('what has no template is an upgrade', () => {
  const target = { kind: 'every' as const, instances: '', tags: '' };
  expect(selectionOf(null, target, false)).toMatchObject({ kind: 'upgrade', template: null, every: true });
});

test('a target without instances is not complete', () => {
  expect(isTargetComplete({ kind: 'instances', instances: ' \n', tags: '' })).toBe(false);
  expect(isTargetComplete({ kind: 'tags', instances: '', tags: 'prod' })).toBe(false);
  expect(isTargetComplete({ kind: 'every', instances: '', tags: '' })).toBe(true);
});

test('blocked instances are counted apart', () => {
  const items = [
    { lines: [1], blocking: [], needs_restart: true },
    { lines: [], blocking: [], needs_restart: false },
    { lines: [1], blocking: ['no'], needs_restart: true },
  ];
  expect(tallyOf(items)).toEqual({ differing: 1, same: 1, blocked: 1, restarting: 1 });
});
