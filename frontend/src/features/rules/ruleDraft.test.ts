import { expect, test } from 'vitest';
import { errorAt, isSame, movedUp, rowOf, rowsOf, rulesOf, type Rule } from './ruleDraft';

const STOCK: Rule = { table: 'shop.stock', cache: 'never' };
const RANKING: Rule = { table: 'shop.ranking', account: 'report@%', cache: 'always', ttl: 30 };

test('rules that are not touched are written as they were', () => {
  const rows = rowsOf([STOCK, RANKING], {});
  expect(rulesOf(rows)).toEqual([STOCK, RANKING]);
  expect(isSame(rows, [STOCK, RANKING])).toBe(true);
  expect(isSame(rows, [STOCK])).toBe(false);
});

test('a proposed rule comes first, and always has a time', () => {
  const rows = rowsOf([STOCK], { digest: 'ab', cache: 'always' });
  expect(rulesOf(rows)).toEqual([{ digest: 'ab', cache: 'always', ttl: 10 }, STOCK]);
  expect(rowsOf([STOCK], { cache: 'never' })).toHaveLength(1);
});

test('empty fields are left out, and so is a time that has no use', () => {
  expect(rulesOf([{ ...rowOf({ cache: 'never' }, 0), table: ' a.b ', ttl: 5 }])).toEqual([
    { table: 'a.b', cache: 'never' },
  ]);
});

test('a rule goes up by one place, and the first stays', () => {
  const rows = rowsOf([STOCK, RANKING], {});
  expect(movedUp(rows, 1).map(({ table }) => table)).toEqual(['shop.ranking', 'shop.stock']);
  expect(movedUp(rows, 0)).toBe(rows);
});

test('an error is found at its row and field', () => {
  const errors = [{ index: 1, field: 'ttl', code: 'rule_ttl', detail: '' }];
  expect(errorAt(errors, 1, 'ttl')?.code).toBe('rule_ttl');
  expect(errorAt(errors, 0, 'ttl')).toBeUndefined();
});
