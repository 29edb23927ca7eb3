import { useQuery } from '@tanstack/react-query';
import { DataTable, type Column } from '@/components/DataTable';
import { EmptyState } from '@/components/EmptyState';
import { Panel } from '@/components/Panel';
import { QueryView } from '@/components/QueryView';
import { useT } from '@/lib/i18n/context';
import { cacheQueriesQuery } from './queriesApi';
import { columnNames, isNumeric, readableColumn, type QueryRow } from './queryRows';
import classes from './queries.module.css';

/** Statements by what they save and what they waste, with the columns that the engine reports. */
export function TopQueries({ instanceId }: { instanceId: string }) {
  const t = useT();
  const queries = useQuery(cacheQueriesQuery(instanceId));
  return (
    <Panel
      title={t('queries.top')}
      description={(queries.data?.is_available && queries.data.note) || undefined}
      flush
    >
      <QueryView query={queries}>
        {(data) => {
          const rows = data.items.map((item, index) => ({ ...item, key: String(index) }));
          if (!data.is_available) return <EmptyState title={t('queries.notOffered')} hint={data.note} />;
          return (
            <DataTable
              label={t('queries.top')}
              rows={rows}
              rowKey={(row) => row.key ?? ''}
              columns={columnsOf(rows)}
              empty={<EmptyState title={t('queries.noneYet')} />}
            />
          );
        }}
      </QueryView>
    </Panel>
  );
}

function columnsOf(rows: QueryRow[]): Column<QueryRow>[] {
  return columnNames(rows).map((name) => {
    const isNumber = isNumeric(rows, name);
    return {
      key: name,
      header: readableColumn(name),
      align: isNumber ? ('right' as const) : undefined,
      sortValue: (row: QueryRow) => (isNumber ? Number(row[name] ?? NaN) : row[name]),
      render: (row: QueryRow) =>
        isNumber ? (
          row[name]
        ) : (
          <code className={classes.statement} title={row[name] ?? ''}>
            {row[name] ?? '–'}
          </code>
        ),
    };
  });
}
