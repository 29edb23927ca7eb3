import type { ReactNode } from 'react';

export interface Column<Row> {
  key: string;
  header: string;
  render: (row: Row) => ReactNode;
  sortValue?: (row: Row) => string | number | null | undefined;
  align?: 'right';
  width?: number | string;
  /** Hidden on narrow screens. */
  isSecondary?: boolean;
}
