import type { CSSProperties } from 'react';
import type { Column } from './column';
import { IconSortAscending, IconSortDescending } from './icons';
import type { Sort } from './sortRows';
import classes from './DataTable.module.css';

interface HeaderCellProps<Row> {
  column: Column<Row>;
  sort: Sort | undefined;
  onSort: () => void;
}

/** The style that sets a column's width as a CSS variable. The style sheet ignores it on narrow screens. */
function widthStyle(width: number | string): CSSProperties {
  return { '--column-width': typeof width === 'number' ? `${width}px` : width } as CSSProperties;
}

export function HeaderCell<Row>({ column, sort, onSort }: HeaderCellProps<Row>) {
  const direction = sort?.key === column.key ? sort.direction : undefined;
  const Icon = direction === 'descending' ? IconSortDescending : IconSortAscending;
  const className = column.isSecondary ? classes.secondary : undefined;
  if (column.header === '') return <td className={className} />;
  return (
    <th
      scope="col"
      style={column.width === undefined ? undefined : widthStyle(column.width)}
      data-align={column.align}
      className={className}
      aria-sort={column.sortValue ? (direction ?? 'none') : undefined}
    >
      {column.sortValue ? (
        <button type="button" className={classes.sort} onClick={onSort}>
          {column.header}
          <Icon size={13} aria-hidden="true" data-active={direction !== undefined} />
        </button>
      ) : (
        column.header
      )}
    </th>
  );
}
