import { expect, test } from 'vitest';
import type { Column } from './column';
import { nextSort, sortRows } from './sortRows';

interface Row {
  name: string;
  hits: number | null;
}

const columns: Column<Row>[] = [
  { key: 'name', header: '', render: () => null, sortValue: (row) => row.name },
  { key: 'hits', header: '', render: () => null, sortValue: (row) => row.hits },
];
const rows: Row[] = [
  { name: 'db-10', hits: 3 },
  { name: 'db-9', hits: null },
  { name: 'db-1', hits: 7 },
];
const names = (sorted: Row[]) => sorted.map(({ name }) => name);

test('numbers inside names count as numbers', () => {
  expect(names(sortRows(rows, columns, { key: 'name', direction: 'ascending' }))).toEqual([
    'db-1',
    'db-9',
    'db-10',
  ]);
});

test('rows without a value come last in either direction', () => {
  expect(names(sortRows(rows, columns, { key: 'hits', direction: 'ascending' }))).toEqual([
    'db-10',
    'db-1',
    'db-9',
  ]);
  expect(names(sortRows(rows, columns, { key: 'hits', direction: 'descending' }))).toEqual([
    'db-1',
    'db-10',
    'db-9',
  ]);
});

test('a third click gives the order back', () => {
  const first = nextSort(undefined, 'name');
  const second = nextSort(first, 'name');
  expect([first?.direction, second?.direction, nextSort(second, 'name')]).toEqual([
    'ascending',
    'descending',
    undefined,
  ]);
});
