// A table that stays smooth with 10 000 rows: in long tables only the rows in view are rendered. All rows have the same
// height, so that two empty rows can take the space above and below, and screen readers get a real table. A scroll
// renders only the rows that come into view. This relies on the memoization here.
import { useVirtualizer } from '@tanstack/react-virtual';
import { memo, useEffect, useEffectEvent, useMemo, useRef, useState, type ReactNode } from 'react';
import { useT } from '@/lib/i18n/context';
import type { Column } from './column';
import { nextSort, sortRows, type Sort } from './sortRows';
import { HeaderCell } from './DataTableHeader';
import { watchEdges } from './watchEdges';
import classes from './DataTable.module.css';

export type { Column };

const VIRTUAL_FROM = 80;

/**
 * The rows that the user has selected, by row key. `labelOf` gives the text that screen readers say for a row's
 * checkbox.
 */
export interface Selection<Row> {
  selected: ReadonlySet<string>;
  onChange: (selected: Set<string>) => void;
  labelOf: (row: Row) => string;
}

interface DataTableProps<Row> {
  label: string;
  rows: Row[];
  columns: Column<Row>[];
  rowKey: (row: Row) => string;
  rowHeight?: number;
  initialSort?: Sort;
  selection?: Selection<Row>;
  empty?: ReactNode;
  maxHeight?: string;
  /** Called when the last rows come into view in a long table, also repeatedly, so that more rows can be loaded. */
  onEndReached?: () => void;
}

export function DataTable<Row>(props: DataTableProps<Row>) {
  const { rows, columns, rowKey, rowHeight = 42, selection } = props;
  const [sort, setSort] = useState<Sort | undefined>(props.initialSort);
  const sorted = useMemo(() => sortRows(rows, columns, sort), [rows, columns, sort]);
  const scroller = useRef<HTMLDivElement>(null);
  const isVirtual = rows.length > VIRTUAL_FROM;
  // eslint-disable-next-line react-hooks/incompatible-library -- the virtualizer returns fresh functions by design; nothing here memoises them
  const virtualizer = useVirtualizer({
    count: isVirtual ? sorted.length : 0,
    getScrollElement: () => scroller.current,
    estimateSize: () => rowHeight,
    overscan: 4,
  });
  const items = virtualizer.getVirtualItems();
  const lastShown = items.at(-1)?.index ?? 0;
  const isAtEnd = isVirtual && lastShown >= sorted.length - 20;
  const onEndReached = useEffectEvent(() => props.onEndReached?.());
  useEffect(() => {
    if (isAtEnd) onEndReached();
  }, [isAtEnd, sorted.length]);
  const shown = isVirtual ? items.flatMap((item) => sorted[item.index] ?? []) : sorted;
  const before = isVirtual ? (items[0]?.start ?? 0) : 0;
  const after = isVirtual ? virtualizer.getTotalSize() - (items.at(-1)?.end ?? 0) : 0;
  if (rows.length === 0 && props.empty) return <>{props.empty}</>;
  const span = columns.length + (selection ? 1 : 0);
  return (
    <div
      ref={scroller}
      className={classes.scroller}
      style={isVirtual ? { maxHeight: props.maxHeight ?? 'calc(100dvh - 230px)', minHeight: 320 } : undefined}
      tabIndex={0}
    >
      <table
        ref={watchEdges}
        className={classes.table}
        aria-label={props.label}
        aria-rowcount={rows.length + 1}
      >
        <thead>
          <tr>
            {selection && <SelectAll rows={rows} rowKey={rowKey} selection={selection} />}
            {columns.map((column) => (
              <HeaderCell
                key={column.key}
                column={column}
                sort={sort}
                onSort={() => {
                  setSort(nextSort(sort, column.key));
                  scroller.current?.scrollTo(0, 0);
                }}
              />
            ))}
          </tr>
        </thead>
        <tbody>
          <Spacer height={before} span={span} />
          {shown.map((row) => (
            <MemoRow
              key={rowKey(row)}
              row={row}
              rowId={rowKey(row)}
              height={rowHeight}
              columns={columns}
              selection={selection}
              isSelected={selection?.selected.has(rowKey(row)) ?? false}
            />
          ))}
          <Spacer height={after} span={span} />
        </tbody>
      </table>
    </div>
  );
}

function Spacer({ height, span }: { height: number; span: number }) {
  if (height <= 0) return null;
  return (
    <tr aria-hidden="true">
      <td colSpan={span} style={{ height, padding: 0, border: 0 }} />
    </tr>
  );
}

interface RowProps<Row> {
  row: Row;
  rowId: string;
  height: number;
  columns: Column<Row>[];
  selection?: Selection<Row>;
  isSelected: boolean;
}

function Row<Row>({ row, rowId, height, columns, selection, isSelected }: RowProps<Row>) {
  return (
    <tr style={{ height }} data-selected={isSelected || undefined}>
      {selection && (
        <td className={classes.select}>
          <input
            type="checkbox"
            checked={isSelected}
            onChange={() => selection.onChange(toggled(selection.selected, rowId))}
            aria-label={selection.labelOf(row)}
          />
        </td>
      )}
      {columns.map((column) => (
        <td
          key={column.key}
          data-align={column.align}
          className={column.isSecondary ? classes.secondary : undefined}
        >
          {column.render(row)}
        </td>
      ))}
    </tr>
  );
}

const MemoRow = memo(Row) as typeof Row;

function toggled(selected: ReadonlySet<string>, key: string): Set<string> {
  const next = new Set(selected);
  if (!next.delete(key)) next.add(key);
  return next;
}

interface SelectAllProps<Row> {
  rows: Row[];
  rowKey: (row: Row) => string;
  selection: Selection<Row>;
}

function SelectAll<Row>({ rows, rowKey, selection }: SelectAllProps<Row>) {
  const t = useT();
  const { selected, onChange } = selection;
  const keys = useMemo(() => rows.map(rowKey), [rows, rowKey]);
  const count = useMemo(() => keys.filter((key) => selected.has(key)).length, [keys, selected]);
  return (
    <th className={classes.select}>
      <input
        type="checkbox"
        ref={(box) => {
          if (box) box.indeterminate = count > 0 && count < keys.length;
        }}
        checked={count > 0 && count === keys.length}
        onChange={() => onChange(count === keys.length ? new Set() : new Set(keys))}
        aria-label={t('table.selectAll')}
      />
    </th>
  );
}
