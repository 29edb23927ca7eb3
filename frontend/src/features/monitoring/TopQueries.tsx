import { SegmentedControl } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { cacheQueriesQuery } from '@/api/instances';
import { EmptyState } from '@/components/EmptyState';
import { Moment } from '@/components/Moment';
import { Panel } from '@/components/Panel';
import { QueryView } from '@/components/QueryView';
import { useT, useApiText } from '@/lib/i18n/context';
import { RANKINGS, SPAN_HOURS, SPANS, type Ranking, type Span } from './search';
import { DigestFigures } from './DigestFigures';
import { StatementDrawer } from './StatementDrawer';
import { QueryTable } from './QueryTable';
import { estimateText, rankColumn, usualRanking, hasObserved } from './queryRows';
import classes from './queries.module.css';

interface TopQueriesProps {
  instanceId: string;
  /** The span of the figures. Absent means since the server started to count. */
  span?: Span;
  onSpan: (span: Span | undefined) => void;
  /** The ranking that the user chose. Absent means the default one, by the state of the cache. */
  ranking?: Ranking;
  isObserving: boolean;
  onRank: (ranking: Ranking | undefined) => void;
  /** The digest of the statement whose details are shown. Absent if none are. */
  open?: string;
  onOpen: (digest: string | undefined) => void;
}

/**
 * The statements of a server, ranked by what the cache saves or wastes with them, or would save. A server without the
 * engine shows them by the time that they take.
 */
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
  const apiText = useApiText();
  const queries = useQuery(cacheQueriesQuery(instanceId, span ? SPAN_HOURS[span] : 0));
  const items = queries.data?.items ?? [];
  const ranking = chosen ?? usualRanking(items, isObserving);
  const rankings = RANKINGS.filter((each) => each !== 'observed' || each === ranking || hasObserved(items));
  const isOfEngine = queries.data?.source === 'engine' && queries.data.is_available;
  const isOfDigests = queries.data?.source === 'digests';
  const estimate = queries.data?.estimate;
  return (
    <Panel
      title={t(isOfDigests ? 'queries.byServerTime' : 'queries.top')}
      description={isOfEngine ? t(`queries.rankingHint.${ranking}`) : estimate && estimateText(estimate, t)}
      flush
      actions={
        (isOfEngine || isOfDigests) && (
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
            {isOfEngine && (
              <SegmentedControl
                size="xs"
                aria-label={t('queries.ranking')}
                value={ranking}
                onChange={(next) => onRank(RANKINGS.find((each) => each === next))}
                data={rankings.map((value) => ({ value, label: t(`queries.ranking.${value}`) }))}
              />
            )}
          </>
        )
      }
    >
      <QueryView query={queries}>
        {(data) =>
          data.is_available && data.source === 'digests' ? (
            <div className={classes.figures}>
              {span && <SpanNote since={data.since} />}
              <DigestFigures instanceId={instanceId} items={data.items} open={open} onOpen={onOpen} />
            </div>
          ) : data.is_available ? (
            <div className={classes.figures}>
              {span && <SpanNote since={data.since} />}
              <QueryTable
                items={data.items}
                label={t('queries.top')}
                column={rankColumn(data.items, ranking)}
                noneRanked={t(`queries.noneRanked.${ranking}`)}
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
            <EmptyState title={t('queries.notOffered')} hint={apiText(`note.${data.reason}`, data.note)} />
          )
        }
      </QueryView>
    </Panel>
  );
}

/**
 * The time at which the figures begin. Figures are stored by the hour, so it is only near the start of the chosen span.
 * Null means since the server started.
 */
function SpanNote({ since }: { since: string | null }) {
  const t = useT();
  return (
    <p className={classes.span}>
      {since ? (
        <>
          {t('queries.since')} <Moment at={since} />
        </>
      ) : (
        t('queries.notNoted')
      )}
    </p>
  );
}
