// One way to show a list that is asked for page by page: a panel, its table, and the way to the next page.
import type { UseInfiniteQueryResult } from '@tanstack/react-query';
import type { ReactNode } from 'react';
import type { Column } from './column';
import { DataTable } from './DataTable';
import { MoreButton } from './MoreButton';
import { Panel } from './Panel';
import { QueryView } from './QueryView';

interface ListPanelProps<Row> {
  label: string;
  /** On a page of one list, the page's heading says it. */
  isUntitled?: boolean;
  description?: ReactNode;
  actions?: ReactNode;
  query: UseInfiniteQueryResult<Row[]>;
  columns: Column<Row>[];
  rowKey: (row: Row) => string;
  /** What of the loaded rows is shown; else all. */
  keep?: (row: Row) => boolean;
  empty?: ReactNode;
  /** Above the table: what failed. */
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
