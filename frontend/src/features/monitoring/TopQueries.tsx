import { SegmentedControl } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { cacheQueriesQuery } from '@/api/instances';
import { DataTable, type Column } from '@/components/DataTable';
import { EmptyState } from '@/components/EmptyState';
import { Moment } from '@/components/Moment';
import { Panel } from '@/components/Panel';
import { QueryView } from '@/components/QueryView';
import { useT, useTold, type Told, type Translate } from '@/lib/i18n/context';
import { RANKINGS, SPAN_HOURS, SPANS, type Ranking, type Span } from './search';
import { StatementDrawer } from './StatementDrawer';
import {
  columnNames,
  isNumeric,
  isOneStatement,
  rankColumn,
  ranked,
  readableColumn,
  readableFigure,
  usualRanking,
  wereObserved,
  type QueryRow,
} from './queryRows';
import classes from './queries.module.css';

interface TopQueriesProps {
  instanceId: string;
  /** Without one: since the server began to count. */
  span?: Span;
  onSpan: (span: Span | undefined) => void;
  /** Without one: the usual one. */
  ranking?: Ranking;
  isObserving: boolean;
  onRank: (ranking: Ranking | undefined) => void;
  /** The digest of the statement whose details are shown. */
  open?: string;
  onOpen: (digest: string | undefined) => void;
}

/** Statements by what they save, waste or would save, with the columns that the engine reports. */
export function TopQueries({
  instanceId,
  span,
  onSpan,
  ranking: chosen,
  isObserving,
  onRank,
  open,
  onOpen,
}: TopQueriesProps) {
  const t = useT();
  const told = useTold();
  const queries = useQuery(cacheQueriesQuery(instanceId, span ? SPAN_HOURS[span] : 0));
  const items = queries.data?.items ?? [];
  const ranking = chosen ?? usualRanking(items, isObserving);
  const rankings = RANKINGS.filter((each) => each !== 'observed' || each === ranking || wereObserved(items));
  return (
    <Panel
      title={t('queries.top')}
      description={queries.data?.is_available ? t(`queries.rankingHint.${ranking}`) : undefined}
      flush
      actions={
        queries.data?.is_available && (
          <>
            <SegmentedControl
              size="xs"
              aria-label={t('queries.span')}
              value={span ?? ''}
              onChange={(next) => onSpan(SPANS.find((each) => each === next))}
              data={[
                { value: '', label: t('queries.span.all') },
                ...SPANS.map((value) => ({ value, label: t(`queries.span.${value}`) })),
              ]}
            />
            <SegmentedControl
              size="xs"
              aria-label={t('queries.ranking')}
              value={ranking}
              onChange={(next) => onRank(RANKINGS.find((each) => each === next))}
              data={rankings.map((value) => ({ value, label: t(`queries.ranking.${value}`) }))}
            />
          </>
        )
      }
    >
      <QueryView query={queries}>
        {(data) =>
          data.is_available ? (
            <div className={classes.figures}>
              {span && (
                <p className={classes.span}>
                  {data.since ? (
                    <>
                      {t('queries.since')} <Moment at={data.since} />
                    </>
                  ) : (
                    t('queries.notNoted')
                  )}
                </p>
              )}
              <QueryTable
                items={data.items}
                ranking={ranking}
                onOpen={(row) => onOpen(row.Digest ?? undefined)}
              />
              <StatementDrawer
                instanceId={instanceId}
                row={data.items.find((row) => open !== undefined && row.Digest === open)}
                since={data.since}
                onClose={() => onOpen(undefined)}
              />
            </div>
          ) : (
            <EmptyState title={t('queries.notOffered')} hint={told(`note.${data.reason}`, data.note)} />
          )
        }
      </QueryView>
    </Panel>
  );
}

interface QueryTableProps {
  items: QueryRow[];
  ranking: Ranking;
  onOpen: (row: QueryRow) => void;
}

function QueryTable({ items, ranking, onOpen }: QueryTableProps) {
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
      columns={columnsOf(items, column, t, told, onOpen)}
      empty={
        items.length ? (
          <EmptyState title={t('queries.noneRanked')} hint={t(`queries.noneRanked.${ranking}`)} />
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
  onOpen: (row: QueryRow) => void,
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
