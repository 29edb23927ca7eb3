import { expect, test } from 'vitest';
import {
  initialSizing,
  isSizingComplete,
  isTooLarge,
  isUnreadable,
  largestSize,
  sizeOfResultSet,
  sizingRequest,
  withRule,
} from './sizing';

test('a rule is complete once it has the number it needs', () => {
  expect(isSizingComplete(initialSizing)).toBe(true);
  expect(isSizingComplete({ ...initialSizing, rule: 'result_set' })).toBe(false);
  expect(isSizingComplete({ ...initialSizing, rule: 'result_set', resultSet: '2.5 GiB' })).toBe(true);
});

test('until a rule is chosen, the one that the advice suggests counts, and no other', () => {
  const size = (rule: 'buffer_pool' | 'curve', is_suggested: boolean) => ({
    rule,
    size_bytes: 1024,
    explanation: '',
    is_suggested,
  });
  const sizes = [size('buffer_pool', false), size('curve', true)];
  expect(withRule(initialSizing, sizes).rule).toBe('curve');
  expect(withRule({ ...initialSizing, rule: 'explicit' }, sizes).rule).toBe('explicit');
  expect(sizingRequest(initialSizing)).not.toHaveProperty('rule');
});

test('only the number of the chosen rule is sent', () => {
  const sizing = {
    ...initialSizing,
    rule: 'explicit' as const,
    resultSet: '1G',
    explicit: '64M',
    type: '2' as const,
  };
  expect(sizingRequest(sizing)).toEqual({
    rule: 'explicit',
    type: 2,
    shrink_buffer_pool: true,
    allow_restart: false,
    size_bytes: 67108864,
  });
});

test('a size that cannot be applied is told where it is typed', () => {
  const typed = { ...initialSizing, rule: 'explicit' as const, explicit: '100G' };
  const gib = 1024 ** 3;
  expect(largestSize('[0-10485760000]', 4 * gib)).toBe(4 * gib);
  expect(largestSize('[0-10485760000]', 64 * gib)).toBe(10485760000);
  expect(largestSize(undefined, undefined)).toBeUndefined();
  expect(isTooLarge(typed, 4 * gib)).toBe(true);
  expect(isTooLarge({ ...typed, explicit: '1G' }, 4 * gib)).toBe(false);
  expect(isTooLarge(typed, undefined)).toBe(false);
});

test('a fifth of the result sets is a multiple of 1024', () => {
  expect(sizeOfResultSet('2684354560')).toBe(536870912);
  expect((sizeOfResultSet('999999') ?? 1) % 1024).toBe(0);
});

test('what is no size is said to be none, and nothing is said of an empty field', () => {
  expect(['3 potatoes', '', ' ', '480 MiB', '1024'].map(isUnreadable)).toEqual([
    true,
    false,
    false,
    false,
    false,
  ]);
});
