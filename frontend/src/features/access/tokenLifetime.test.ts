import { expect, test } from 'vitest';
import { expiryOf, LIFETIMES_DAYS } from './tokenLifetime';

test('the longest lifetime stays within the limit of a server whose clock is behind by minutes', () => {
  const now = Date.UTC(2026, 0, 1);
  const limit = now - 5 * 60_000 + 90 * 86_400_000;
  expect(Date.parse(expiryOf(Math.max(...LIFETIMES_DAYS), now))).toBeLessThan(limit);
});
