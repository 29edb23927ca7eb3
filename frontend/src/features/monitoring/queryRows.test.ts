import { expect, test } from 'vitest';
import { englishTranslate } from '@/lib/i18n/context';
import {
  columnNames,
  estimateText,
  ranked,
  rankColumn,
  readableColumn,
  readableFigure,
  schemaOf,
  tableColumns,
  usualRanking,
  type Estimate,
  type QueryRow,
} from './queryRows';

const rows: QueryRow[] = [
  { Digest: 'a1', Query: 'SELECT ?', Hits: '9', Bytes_saved: '2048', Time_saved_us: '1500', Wasted: '0' },
  { Digest: 'b2', Query: 'SELECT ? + ?', Hits: '1', Bytes_saved: '10', Time_saved_us: '40', Wasted: '7' },
  { Digest: 'c3', Query: 'SELECT now', Hits: '0', Bytes_saved: '0', Time_saved_us: '0', Wasted: '90' },
];

test('each ranking goes by the column that the engine reports for it', () => {
  expect(rankColumn(rows, 'saved')).toBe('Time_saved_us');
  expect(rankColumn(rows, 'waste')).toBe('Wasted');
  expect(rankColumn([{ Hits: '3' }], 'waste')).toBeUndefined();
});

test('a ranking shows what has something in its column, the greatest first', () => {
  const order = (column: string | undefined) => ranked(rows, column).map((row) => row.Digest);
  expect(order('Time_saved_us')).toEqual(['a1', 'b2']);
  expect(order('Wasted')).toEqual(['c3', 'b2']);
  expect(order(undefined)).toEqual(['a1', 'b2', 'c3']);
});

test('the statement comes first, then what it is ranked by, its digest last', () => {
  expect(columnNames(rows, 'Wasted')).toEqual([
    'Query',
    'Wasted',
    'Hits',
    'Bytes_saved',
    'Time_saved_us',
    'Digest',
  ]);
});

test('figures stand before words', () => {
  const [row] = rows;
  expect(columnNames([{ ...row, Reasons: 'changed=3', Stale_hits: '0' }])).toEqual([
    'Query',
    'Hits',
    'Bytes_saved',
    'Time_saved_us',
    'Wasted',
    'Stale_hits',
    'Reasons',
    'Digest',
  ]);
});

test('what only the drawer shows leaves the table room for the statement', () => {
  const [row] = rows;
  const all = [
    { ...row, Inserts: '1', Bytes_stored: '9', Reasons: 'changed=3', Stale_hits: '0', Of_tomorrow: '4' },
  ];
  expect(tableColumns(all, 'Time_saved_us')).toEqual([
    'Query',
    'Time_saved_us',
    'Hits',
    'Wasted',
    'Of_tomorrow',
  ]);
  expect(tableColumns(all, 'Bytes_saved')).toContain('Bytes_saved');
});

test('what the cache would save is told apart from what it saves', () => {
  const [row] = rows;
  const observed = { Observed_requests: '10', Observed_hits: '8', Observed_time_saved_us: '70' };
  const both = [{ ...observed, ...row, Executions: '20' }];
  expect(rankColumn(both, 'saved')).toBe('Time_saved_us');
  expect(rankColumn(both, 'observed')).toBe('Observed_time_saved_us');
  expect(columnNames(both, 'Time_saved_us')).not.toContain('Observed_hits');
  expect(columnNames(both, 'Observed_time_saved_us')).toEqual([
    'Query',
    'Observed_time_saved_us',
    'Observed_requests',
    'Observed_hits',
    'Executions',
    'Digest',
  ]);
});

test('statements are in the order of what they would save while that is all that is known', () => {
  const observed = { Hits: '0', Observed_requests: '10' };
  expect(usualRanking([observed], false)).toBe('observed');
  expect(usualRanking([observed, { Hits: '1' }], false)).toBe('saved');
  expect(usualRanking([observed, { Hits: '1' }], true)).toBe('observed');
  expect(usualRanking([{ Hits: '0', Observed_requests: '0' }], true)).toBe('saved');
});

test('the unit that a name states is in the values', () => {
  expect(readableColumn('TIME_SAVED_US')).toBe('Time saved');
  expect(readableFigure('TIME_SAVED_US', '1500', englishTranslate)).toBe('1.5 ms');
  expect(readableFigure('Bytes_saved', '2048', englishTranslate)).toBe('2 KiB');
  expect(readableFigure('Hit_ratio', '0.973', englishTranslate)).toBe('97.3\u00a0%');
  expect(readableFigure('Hits', '12000', englishTranslate)).toBe('12K');
});

test('a statement is tried in the schema of its tables, if that is one', () => {
  expect(schemaOf({ Tables: 'demo.product, demo.review' })).toBe('demo');
  expect(schemaOf({ Tables: 'demo.product, shop.review' })).toBeUndefined();
  expect(schemaOf({ Tables: null })).toBeUndefined();
});

test('an estimate says how many reads it is taken from', () => {
  const words = (key: string, facts = {}) => [key.split('.').at(-1), ...Object.values(facts)].join(' ');
  const told = (verdict: Estimate['verdict'], sampled = 200, repeated = 150) =>
    estimateText({ read_time_ratio: 0.875, sampled, repeated, verdict }, words);
  expect(told('may_pay')).toBe('reads 87.5\u00a0% repeated 200 75\u00a0%');
  expect(told('small_sample', 20, 15)).toBe('reads 87.5\u00a0% repeated 20 75\u00a0% few');
  expect(told('unknown', 0, 0)).toBe('reads 87.5\u00a0% noTexts');
  expect(told('few_repeat', 200, 19)).toBe('reads 87.5\u00a0% repeated 200 9.5\u00a0% hardly');
  expect(told('little_time')).toBe('reads 87.5\u00a0% repeated 200 75\u00a0% littleTime');
});
