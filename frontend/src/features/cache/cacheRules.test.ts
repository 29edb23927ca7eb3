import { expect, test } from 'vitest';
import { readRules } from './cacheRules';

test('rules are read in their order, with what they match and what they allow', () => {
  const text = JSON.stringify([
    { table: 'shop.ranking', account: 'report@%', cache: 'always', ttl: 10 },
    { schema: 'shop', cache: 'never' },
  ]);
  expect(readRules(text)).toEqual([
    {
      matches: [
        { name: 'table', value: 'shop.ranking' },
        { name: 'account', value: 'report@%' },
      ],
      cache: 'always',
      ttlSeconds: 10,
    },
    { matches: [{ name: 'schema', value: 'shop' }], cache: 'never', ttlSeconds: undefined },
  ]);
});

test('no rules are an empty list; what cannot be read is no list', () => {
  expect(readRules(' ')).toEqual([]);
  expect(readRules('{"table": "a.b"}')).toBeUndefined();
  expect(readRules('[{')).toBeUndefined();
});
