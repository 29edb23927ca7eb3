import { useQuery } from '@tanstack/react-query';
import type { components } from '@/api/schema.gen';
import { DataTable, type Column } from '@/components/DataTable';
import { EmptyState } from '@/components/EmptyState';
import { Identifier } from '@/components/Identifier';
import { Panel } from '@/components/Panel';
import { QueryView } from '@/components/QueryView';
import { formatBytes } from '@/lib/bytes';
import { useT, useApiText, type Translate } from '@/lib/i18n/context';
import type { MessageKey } from '@/lib/i18n/en';
import { ABSENT, formatCompact } from '@/lib/number';
import { cacheTablesQuery } from './queriesApi';

type Row = components['schemas']['CacheTable'];

/**
 * A table of the server's tables: the cached results that read each one, what answered its reads, and how many results
 * its writes did not have to invalidate.
 */
export function TableFigures({ instanceId }: { instanceId: string }) {
  const t = useT();
  const apiText = useApiText();
  const tables = useQuery(cacheTablesQuery(instanceId));
  return (
    <Panel title={t('tables.title')} description={t('tables.hint')} flush>
      <QueryView query={tables}>
        {(data) =>
          data.is_available ? (
            <DataTable
              label={t('tables.title')}
              rows={data.items}
              rowKey={(row) => `${row.schema}.${row.table}`}
              columns={columnsOf(t)}
              empty={<EmptyState title={t('tables.none')} hint={t('tables.noneHint')} />}
            />
          ) : (
            <EmptyState title={t('tables.notOffered')} hint={apiText(`note.${data.reason}`, data.note)} />
          )
        }
      </QueryView>
    </Panel>
  );
}

type Figure = Exclude<keyof Row, 'schema' | 'table'>;

function columnsOf(t: Translate): Column<Row>[] {
  const figure = (key: Figure, header: MessageKey, isSecondary = false): Column<Row> => ({
    key,
    header: t(header),
    align: 'right',
    isSecondary,
    render: (row) => formatCompact(row[key]),
    sortValue: (row) => row[key],
  });
  return [
    {
      key: 'table',
      header: t('queries.table'),
      render: (row) => <Identifier name={`${row.schema}.${row.table}`} />,
      sortValue: (row) => `${row.schema}.${row.table}`,
    },
    figure('reads_cached', 'tables.readsCached'),
    figure('reads_server', 'tables.readsServer', true),
    figure('writes', 'tables.writes', true),
    figure('invalidations_avoided', 'tables.avoided'),
    figure('entries', 'live.entries', true),
    {
      ...figure('stored_bytes', 'instance.memory', true),
      render: (row) => (row.stored_bytes === null ? ABSENT : formatBytes(row.stored_bytes)),
    },
  ];
}
