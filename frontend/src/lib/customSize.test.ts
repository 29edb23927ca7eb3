import { expect, test } from 'vitest';
import { customSize, isSizeUnreadable } from './customSize';

test('a custom size takes memory with a unit and processors, entered or told', () => {
  expect(customSize('24 GiB', 6, 500)).toEqual({
    memory_bytes: 24 * 1024 ** 3,
    cpu_count: 6,
    max_connections: 500,
    storage_bytes: null,
  });
  expect(customSize('24 GiB', 6, 500, '2 TiB')?.storage_bytes).toBe(2 * 1024 ** 4);
  expect(customSize('24 GiB', 6, 500, '2 potatoes')).toBeUndefined();
  expect(customSize('24', 6)).toBeUndefined();
  expect(customSize('24 GiB', '')).toBeUndefined();
  expect(customSize('24 GiB', null)).toBeUndefined();
});

test('what is typed and no size is told at once', () => {
  expect(isSizeUnreadable('3 potatoes')).toBe(true);
  expect(isSizeUnreadable('')).toBe(false);
});
