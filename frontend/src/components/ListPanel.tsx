// A list that is loaded page by page: a panel, its table, and a button for the next page.
import type { UseInfiniteQueryResult } from '@tanstack/react-query';
import type { ReactNode } from 'react';
import type { Column } from './column';
import { DataTable } from './DataTable';
import { MoreButton } from './MoreButton';
import { Panel } from './Panel';
import { QueryView } from './QueryView';

interface ListPanelProps<Row> {
  label: string;
  /** True on a page with one list only, whose heading already names it. */
  isUntitled?: boolean;
  description?: ReactNode;
  actions?: ReactNode;
  query: UseInfiniteQueryResult<Row[]>;
  columns: Column<Row>[];
  rowKey: (row: Row) => string;
  /** Filters the loaded rows; absent means that all are shown. */
  keep?: (row: Row) => boolean;
  empty?: ReactNode;
  /** Content above the table, such as an error. */
  children?: ReactNode;
}

export function ListPanel<Row>({ label, query, keep, ...props }: ListPanelProps<Row>) {
  return (
    <Panel
      flush
      title={props.isUntitled ? undefined : label}
      description={props.description}
      actions={props.actions}
    >
      {props.children}
      <QueryView query={query}>
        {(rows) => (
          <DataTable
            label={label}
            rows={keep ? rows.filter(keep) : rows}
            rowKey={props.rowKey}
            columns={props.columns}
            empty={props.empty}
          />
        )}
      </QueryView>
      <MoreButton query={query} />
    </Panel>
  );
}
