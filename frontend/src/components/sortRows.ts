import type { Column } from './column';

export interface Sort {
  key: string;
  direction: 'ascending' | 'descending';
}

/**
 * The sort order after a click on a column's header: ascending, then descending, then undefined, the order of the rows
 * as given.
 */
export function nextSort(current: Sort | undefined, key: string): Sort | undefined {
  if (current?.key !== key) return { key, direction: 'ascending' };
  return current.direction === 'ascending' ? { key, direction: 'descending' } : undefined;
}

const collator = new Intl.Collator('en', { numeric: true });

/**
 * Returns the rows sorted by a column, without changing the array. Rows without a value come last in either direction.
 * The array itself if there is no order, or the column cannot be sorted.
 */
export function sortRows<Row>(rows: Row[], columns: Column<Row>[], sort: Sort | undefined): Row[] {
  const valueOf = columns.find((column) => column.key === sort?.key)?.sortValue;
  if (!sort || !valueOf) return rows;
  const sign = sort.direction === 'ascending' ? 1 : -1;
  return [...rows].sort((a, b) => {
    const left = valueOf(a) ?? null;
    const right = valueOf(b) ?? null;
    if (left === null || right === null) return Number(left === null) - Number(right === null);
    if (typeof left === 'number' && typeof right === 'number') return sign * (left - right);
    return sign * collator.compare(String(left), String(right));
  });
}
