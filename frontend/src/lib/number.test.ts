import { expect, test } from 'vitest';
import { englishTranslate } from './i18n/context';
import { zh } from './i18n/zh';
import { formatCompact, formatCount, formatDuration, formatPercent, formatRate } from './number';

test('an absent figure is a dash, never zero', () => {
  expect([
    formatCount(null),
    formatCompact(undefined),
    formatPercent(NaN),
    formatDuration(null, englishTranslate),
  ]).toEqual(Array(4).fill('–'));
});

test.each([
  [0, '0 s'],
  [0.0000005, '0.5 µs'],
  [0.00018, '180 µs'],
  [0.0042, '4.2 ms'],
  [0.1246, '125 ms'],
  [3.98, '4 s'],
  [3.44, '3.4 s'],
  [59.9, '59 s'],
  [3600, '1 h'],
  [93784, '1 d 2 h'],
])('%s seconds read as %s', (seconds, text) => {
  expect(formatDuration(seconds, englishTranslate)).toBe(text);
});

test.each([
  [3600, '1 小时'],
  [93784, '1 天 2 小时'],
  [90, '1 分钟 30 秒'],
  [3.44, '3.4 秒'],
  [0.0042, '4.2 ms'],
])('%s seconds read in Chinese as %s', (seconds, text) => {
  expect(formatDuration(seconds, (key) => zh[key])).toBe(text);
});

test('rates and percentages keep what matters', () => {
  expect(formatRate(1284003)).toBe('1.28M/s');
  expect(formatPercent(99.96)).toBe('100\u00a0%');
  expect(formatPercent(82.44)).toBe('82.4\u00a0%');
});
