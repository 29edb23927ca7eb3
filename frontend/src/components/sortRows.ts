import type { Column } from './column';

export interface Sort {
  key: string;
  direction: 'ascending' | 'descending';
}

/** First click ascending, second descending, third back to the given order. */
export function nextSort(current: Sort | undefined, key: string): Sort | undefined {
  if (current?.key !== key) return { key, direction: 'ascending' };
  return current.direction === 'ascending' ? { key, direction: 'descending' } : undefined;
}

const collator = new Intl.Collator('en', { numeric: true });

/** A sorted copy; rows without a value come last in either direction. */
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
