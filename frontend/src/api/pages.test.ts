import { afterEach, expect, test, vi } from 'vitest';
import { connection } from './connection';
import { isQuickToRefetch, pollPages } from './pages';

const listOf = (pages: number) => ({
  state: {
    data: { pages: Array.from({ length: pages }, () => ({ items: [], next: null })), pageParams: [] },
  },
});

afterEach(() => vi.restoreAllMocks());

test('a list is asked for one page per interval, however long it is', () => {
  expect(pollPages(15_000)(listOf(1))).toBe(15_000);
  expect(pollPages(15_000)(listOf(50))).toBe(750_000);
});

test('no list is asked for while the API is down', () => {
  vi.spyOn(connection, 'isLost').mockReturnValue(true);
  expect(pollPages(15_000)(listOf(1))).toBe(false);
});

test('an event does not ask for a long list', () => {
  expect([1, 3, 4, 50].map(listOf).map(isQuickToRefetch)).toEqual([true, true, false, false]);
});
