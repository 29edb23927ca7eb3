import { expect, test } from 'vitest';
import { englishTranslate } from '@/lib/i18n/context';
import { sparkPath } from './sparkPath';
import { timeTicks } from './timeAxis';
import { formatValue, formatValueTick, tileOf, unitOf, valueTicks } from './units';

test('percentages show their whole range, unless they exceed it', () => {
  expect(valueTicks(3, 'percent')).toEqual([0, 25, 50, 75, 100]);
  expect(valueTicks(180, 'percent').at(-1)).toBeGreaterThanOrEqual(180);
});

test('byte axes step by powers of two', () => {
  const mebibyte = 1024 ** 2;
  expect(valueTicks(480 * mebibyte, 'bytes')).toEqual([0, 128, 256, 384, 512].map((size) => size * mebibyte));
});

test.each([0, 0.4, 7, 999, 1_000_001])('ticks start at 0 and cover %s', (max) => {
  const ticks = valueTicks(max, 'rate');
  expect(ticks[0]).toBe(0);
  expect(ticks.at(-1)).toBeGreaterThanOrEqual(max);
  expect(ticks.length).toBeLessThanOrEqual(6);
});

test.each([0, 90, 9_000, 30_000])('ticks up to %s us per second differ as they are written', (max) => {
  const written = valueTicks(max, 'secondRate').map((tick) =>
    formatValueTick(tick, 'secondRate', englishTranslate),
  );
  expect(new Set(written).size).toBe(written.length);
});

test('ticks of counts are whole', () => {
  expect(valueTicks(2, 'count')).toEqual([0, 1, 2]);
});

test('time ticks fall on whole steps of the viewer’s clock', () => {
  const hour = 3_600_000;
  const ticks = timeTicks(10 * 60_000, 10 * 60_000 + 6 * hour, 6, 2 * hour);
  expect(ticks).toEqual([1, 2, 3, 4, 5, 6].map((n) => n * hour));
});

test('units are read from the definition and never guessed', () => {
  expect(unitOf('microseconds per second')).toBe('secondRate');
  expect(unitOf('furlongs')).toBe('count');
  expect(formatValue(250_000, 'secondRate', englishTranslate)).toBe('25\u00a0% of a core');
  expect(formatValueTick(250_000, 'secondRate', englishTranslate)).toBe('25\u00a0%');
  expect(tileOf(159_000, 'secondRate', englishTranslate)).toEqual({
    value: '15.9\u00a0%',
    unit: 'of a core',
  });
  expect(tileOf(null, 'secondRate', englishTranslate)).toEqual({ value: '–' });
  expect(formatValue(null, 'bytes', englishTranslate)).toBe('–');
});

test('a sparkline breaks at gaps and runs flat in the middle', () => {
  expect(sparkPath([0, 1, null, 1], 30, 10)).toBe('M0.0,10.0L10.0,0.0M30.0,0.0h0');
  expect(sparkPath([5, 5], 10, 10)).toBe('M0.0,5.0L10.0,5.0');
  expect(sparkPath([1], 10, 10)).toBe('M10.0,5.0h0');
  expect(sparkPath([null], 10, 10)).toBe('');
});
