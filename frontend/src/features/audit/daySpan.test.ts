import { expect, test } from 'vitest';
import { momentsOf } from './daySpan';

test('the last day is part of the span', () => {
  const { since, until } = momentsOf({ from: '2026-11-01', to: '2026-11-01' });
  expect(new Date(since ?? '')).toEqual(new Date('2026-11-01T00:00:00'));
  expect(new Date(until ?? '')).toEqual(new Date('2026-11-02T00:00:00'));
});

test('a day that is missing limits nothing', () => {
  expect(momentsOf({})).toEqual({ since: undefined, until: undefined });
  expect(momentsOf({ from: '2026-11-01' }).until).toBeUndefined();
});
