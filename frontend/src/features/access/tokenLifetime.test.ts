import { expect, test } from 'vitest';
import { expiryOf, lifetimesUpTo, usualLifetime } from './tokenLifetime';

test('the longest lifetime stays within the limit of a server whose clock is behind by minutes', () => {
  const now = Date.UTC(2026, 0, 1);
  const limit = now - 5 * 60_000 + 90 * 86_400_000;
  expect(Date.parse(expiryOf(90, now))).toBeLessThan(limit);
});

test.each([
  [90, [7, 30, 90], 90],
  [30, [7, 30], 30],
  [1, [1], 1],
  [365, [7, 30, 90, 365], 90],
])('up to %d days, %j are offered and %d is chosen', (most, offered, usual) => {
  expect(lifetimesUpTo(most)).toEqual(offered);
  expect(usualLifetime(most)).toBe(usual);
});
