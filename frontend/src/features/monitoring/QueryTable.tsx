// Statements with whatever columns the server reports.
import { DataTable, type Column } from '@/components/DataTable';
import { EmptyState } from '@/components/EmptyState';
import { useT, useApiText, type TranslateApiText, type Translate } from '@/lib/i18n/context';
import {
  isNumeric,
  isOneStatement,
  ranked,
  readableColumn,
  readableFigure,
  tableColumns,
  type QueryRow,
} from './queryRows';
import classes from './queries.module.css';

interface QueryTableProps {
  items: QueryRow[];
  label: string;
  /** The column that the statements are sorted by. Undefined leaves them in the order of the response. */
  column: string | undefined;
  /** The text shown if no statement has a value above 0 in that column. */
  noneRanked: string;
  onOpen: (row: QueryRow) => void;
}

export function QueryTable({ items, label, column, noneRanked, onOpen }: QueryTableProps) {
  const t = useT();
  const apiText = useApiText();
  const rows = items.map((item, index) => ({ ...item, key: String(index) }));
  return (
    <DataTable
      key={column}
      label={label}
      rows={ranked(rows, column)}
      rowKey={(row) => row.key ?? ''}
      columns={columnsOf(items, column, t, apiText, onOpen)}
      empty={
        items.length ? (
          <EmptyState title={t('queries.noneRanked')} hint={noneRanked} />
        ) : (
          <EmptyState title={t('queries.noneYet')} hint={t('queries.noneYetHint')} />
        )
      }
    />
  );
}

function columnsOf(
  rows: QueryRow[],
  first: string | undefined,
  t: Translate,
  apiText: TranslateApiText,
  onOpen: (row: QueryRow) => void,
): Column<QueryRow>[] {
  return tableColumns(rows, first).map((name) => {
    const isNumber = isNumeric(rows, name);
    return {
      key: name,
      header: apiText(`column.${name}`, readableColumn(name)),
      align: isNumber ? ('right' as const) : undefined,
      sortValue: (row: QueryRow) => (isNumber ? Number(row[name] ?? NaN) : row[name]),
      render: (row: QueryRow) => {
        const value = row[name] ?? '–';
        if (name === 'Query' && isOneStatement(row)) {
          return (
            <button
              type="button"
              className={classes.open}
              aria-label={t('statement.open', { text: value })}
              onClick={() => onOpen(row)}
            >
              <code className={classes.statement} title={value}>
                {value}
              </code>
            </button>
          );
        }
        return isNumber ? (
          <span title={value}>{value === '–' ? value : readableFigure(name, value, t)}</span>
        ) : (
          <code className={classes.statement} title={value}>
            {value}
          </code>
        );
      },
    };
  });
}
