import type { CacheAdvice } from '@/api/instances';
import { DataTable, type Column } from '@/components/DataTable';
import { EmptyState } from '@/components/EmptyState';
import { Identifier } from '@/components/Identifier';
import { Panel } from '@/components/Panel';
import { StatusBadge } from '@/components/StatusBadge';
import { useT, useApiText, type TranslateApiText, type Translate } from '@/lib/i18n/context';
import { formatCompact } from '@/lib/number';

type Row = CacheAdvice['tables'][number];

const TONES = {
  keep: 'ok',
  sql_cache: 'ok',
  near_rule: 'ok',
  leave_out: 'warn',
  neutral: 'neutral',
} as const;

export function TableAdvice({ advice }: { advice: CacheAdvice }) {
  const t = useT();
  const apiText = useApiText();
  const { tables, tables_note: note, tables_reason: reason } = advice;
  return (
    <Panel title={t('queries.tables')} description={t('queries.tablesHint')} flush>
      <DataTable
        label={t('queries.tables')}
        rows={tables}
        rowKey={(row) => `${row.schema}.${row.table}`}
        columns={columnsOf(t, apiText)}
        empty={
          <EmptyState
            title={t('queries.noTables')}
            hint={note ? apiText(`note.${reason}`, note) : t('queries.noTablesHint')}
          />
        }
      />
    </Panel>
  );
}

function ratio(row: Row): number | null {
  return row.rows_changed > 0 ? row.rows_read / row.rows_changed : null;
}

function columnsOf(t: Translate, apiText: TranslateApiText): Column<Row>[] {
  return [
    {
      key: 'table',
      header: t('queries.table'),
      render: (row) => <Identifier name={`${row.schema}.${row.table}`} />,
      sortValue: (row) => `${row.schema}.${row.table}`,
    },
    {
      key: 'read',
      header: t('queries.read'),
      align: 'right',
      isSecondary: true,
      render: (row) => formatCompact(row.rows_read),
      sortValue: (row) => row.rows_read,
    },
    {
      key: 'changed',
      header: t('queries.changed'),
      align: 'right',
      isSecondary: true,
      render: (row) => formatCompact(row.rows_changed),
      sortValue: (row) => row.rows_changed,
    },
    {
      key: 'ratio',
      header: t('queries.ratio'),
      align: 'right',
      render: (row) => formatCompact(ratio(row)),
      sortValue: ratio,
    },
    {
      key: 'advice',
      header: t('queries.advice'),
      render: (row) => (
        <StatusBadge tone={TONES[row.advice]} title={apiText(`advice.${row.advice}`, row.explanation)}>
          {t(`queries.advice.${row.advice}`)}
        </StatusBadge>
      ),
    },
    {
      key: 'why',
      header: t('queries.why'),
      render: (row) => apiText(`advice.${row.advice}`, row.explanation),
      isSecondary: true,
    },
  ];
}
