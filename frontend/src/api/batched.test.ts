import { expect, test } from 'vitest';
import { batched } from './batched';

function recorded() {
  const asked: string[][] = [];
  const askMany = (keys: string[]) => {
    asked.push(keys);
    return Promise.resolve(new Map(keys.filter((key) => key !== 'gone').map((key) => [key, `of ${key}`])));
  };
  return { asked, askMany };
}

test('what comes together is asked once, and each gets its own answer', async () => {
  const { asked, askMany } = recorded();
  const load = batched(askMany, 200);
  expect(await Promise.all(['a', 'b', 'gone', 'a'].map(load))).toEqual(['of a', 'of b', null, 'of a']);
  expect(asked).toEqual([['a', 'b', 'gone']]);
  expect(await load('c')).toBe('of c');
  expect(asked).toHaveLength(2);
});

test('no request names more than the limit', async () => {
  const { asked, askMany } = recorded();
  const load = batched(askMany, 2);
  await Promise.all(['a', 'b', 'c', 'd', 'e'].map(load));
  expect(asked).toEqual([['a', 'b'], ['c', 'd'], ['e']]);
});

test('a request that fails is told to all that it was for', async () => {
  const load = batched(() => Promise.reject(new Error('down')), 2);
  const outcomes = await Promise.allSettled([load('a'), load('b')]);
  expect(outcomes.map(({ status }) => status)).toEqual(['rejected', 'rejected']);
});
