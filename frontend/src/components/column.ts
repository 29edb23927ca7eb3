import type { ReactNode } from 'react';

/**
 * A column of a table. `key` identifies it; without `sortValue` the table cannot be sorted by it. A null sort value
 * comes last.
 */
export interface Column<Row> {
  key: string;
  header: string;
  render: (row: Row) => ReactNode;
  sortValue?: (row: Row) => string | number | null | undefined;
  align?: 'right';
  width?: number | string;
  /** True if the column is hidden on narrow screens. */
  isSecondary?: boolean;
}
