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
  /** True on a page with this list only, where the page's heading already names it. */
  isUntitled?: boolean;
  description?: ReactNode;
  actions?: ReactNode;
  query: UseInfiniteQueryResult<Row[]>;
  columns: Column<Row>[];
  rowKey: (row: Row) => string;
  /** Returns whether a loaded row is shown. Absent means that all are. */
  keep?: (row: Row) => boolean;
  empty?: ReactNode;
  /** Content above the table, such as an error. */
  children?: ReactNode;
}

/** A panel with a table of the pages loaded so far, and a button that loads the next one. `label` names the table. */
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
