import { SegmentedControl } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { DataTable, type Column } from '@/components/DataTable';
import { EmptyState } from '@/components/EmptyState';
import { Panel } from '@/components/Panel';
import { QueryView } from '@/components/QueryView';
import { useT, useTold, type Told, type Translate } from '@/lib/i18n/context';
import { cacheQueriesQuery } from './queriesApi';
import {
  columnNames,
  isNumeric,
  rankColumn,
  ranked,
  RANKINGS,
  readableColumn,
  readableFigure,
  type QueryRow,
  type Ranking,
} from './queryRows';
import classes from './queries.module.css';

interface TopQueriesProps {
  instanceId: string;
  ranking: Ranking;
  onRank: (ranking: Ranking) => void;
}

/** Statements by what they save or by what they waste, with the columns that the engine reports. */
export function TopQueries({ instanceId, ranking, onRank }: TopQueriesProps) {
  const t = useT();
  const told = useTold();
  const queries = useQuery(cacheQueriesQuery(instanceId));
  return (
    <Panel
      title={t('queries.top')}
      description={queries.data?.is_available ? t(`queries.rankingHint.${ranking}`) : undefined}
      flush
      actions={
        queries.data?.is_available && (
          <SegmentedControl
            size="xs"
            aria-label={t('queries.ranking')}
            value={ranking}
            onChange={(next) => onRank(next === 'waste' ? 'waste' : 'saved')}
            data={RANKINGS.map((value) => ({ value, label: t(`queries.ranking.${value}`) }))}
          />
        )
      }
    >
      <QueryView query={queries}>
        {(data) =>
          data.is_available ? (
            <div className={classes.figures}>
              <QueryTable items={data.items} ranking={ranking} />
            </div>
          ) : (
            <EmptyState title={t('queries.notOffered')} hint={told('note.no_report', data.note)} />
          )
        }
      </QueryView>
    </Panel>
  );
}

function QueryTable({ items, ranking }: { items: QueryRow[]; ranking: Ranking }) {
  const t = useT();
  const told = useTold();
  const rows = items.map((item, index) => ({ ...item, key: String(index) }));
  const column = rankColumn(items, ranking);
  return (
    <DataTable
      key={ranking}
      label={t('queries.top')}
      rows={ranked(rows, column)}
      rowKey={(row) => row.key ?? ''}
      columns={columnsOf(items, column, t, told)}
      empty={
        items.length ? (
          <EmptyState title={t('queries.noneRanked')} />
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
  told: Told,
): Column<QueryRow>[] {
  return columnNames(rows, first).map((name) => {
    const isNumber = isNumeric(rows, name);
    return {
      key: name,
      header: told(`column.${name}`, readableColumn(name)),
      align: isNumber ? ('right' as const) : undefined,
      sortValue: (row: QueryRow) => (isNumber ? Number(row[name] ?? NaN) : row[name]),
      render: (row: QueryRow) => {
        const value = row[name] ?? '–';
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
