import { expect, test } from 'vitest';
import { ranked, rankColumn, readableColumn, readableFigure, type QueryRow } from './queryRows';

const rows: QueryRow[] = [
  { Digest: 'a1', Statement: 'SELECT ?', Hits: '9', Saved_bytes: '2048', Saved_us: '1500', Wasted: '0' },
  { Digest: 'b2', Statement: 'SELECT ? + ?', Hits: '1', Saved_bytes: '10', Saved_us: '40', Wasted: '7' },
  { Digest: 'c3', Statement: 'SELECT now', Hits: '0', Saved_bytes: '0', Saved_us: '0', Wasted: '90' },
];

test('each ranking goes by the column that the engine reports for it', () => {
  expect(rankColumn(rows, 'saved')).toBe('Saved_us');
  expect(rankColumn(rows, 'waste')).toBe('Wasted');
  expect(rankColumn([{ Hits: '3' }], 'waste')).toBeUndefined();
});

test('a ranking shows what has something in its column, the greatest first', () => {
  const order = (column: string | undefined) => ranked(rows, column).map((row) => row.Digest);
  expect(order('Saved_us')).toEqual(['a1', 'b2']);
  expect(order('Wasted')).toEqual(['c3', 'b2']);
  expect(order(undefined)).toEqual(['a1', 'b2', 'c3']);
});

test('a unit at the end of a name is in the values, not in the heading', () => {
  expect(readableColumn('TIME_SAVED_US')).toBe('time saved');
  expect(readableFigure('TIME_SAVED_US', '1500')).toBe('1.5 ms');
  expect(readableFigure('Saved_bytes', '2048')).toBe('2 KiB');
  expect(readableFigure('Hits', '12000')).toBe('12K');
});
