import { useQuery } from '@tanstack/react-query';
import { useMemo } from 'react';
import { instanceQuery, type CacheStatus } from '@/api/instances';
import { nearCachesQuery, type NearCache } from '@/api/nearCaches';
import { ChartPanel } from '@/charts/ChartPanel';
import { buildPanel, READS_PANEL, translateSource, type MetricAnswer } from '@/charts/metricPanels';
import { FactList, type Fact } from '@/components/FactList';
import { ButtonLink, TextLink } from '@/components/links';
import { QueryView } from '@/components/QueryView';
import { formatBytes } from '@/lib/bytes';
import { useT, useMetricText, type Translate } from '@/lib/i18n/context';
import { ABSENT, formatCompact } from '@/lib/number';
import { readsQuery } from './api';
import classes from './cache.module.css';

interface NowPanelProps {
  instanceId: string;
  /** The state of the server's cache. Undefined while it is off and only near caches answer. */
  status?: CacheStatus;
}

/** A chart of how the reads of the past hour were answered, with facts about what the cache holds below it. */
export function NowPanel({ instanceId, status }: NowPanelProps) {
  const { data: instance } = useQuery(instanceQuery(instanceId));
  const reads = useQuery(readsQuery(instanceId));
  return (
    <QueryView query={reads}>
      {(answer) => (
        <Picture instanceId={instanceId} subject={instance?.name ?? ''} answer={answer} status={status} />
      )}
    </QueryView>
  );
}

interface PictureProps extends NowPanelProps {
  subject: string;
  answer: MetricAnswer;
}

function Picture({ instanceId, subject, answer, status }: PictureProps) {
  const t = useT();
  const metricText = useMetricText();
  const model = useMemo(
    () => buildPanel(READS_PANEL, [translateSource({ label: subject, answer }, metricText)], []),
    [subject, answer, metricText],
  );
  const isWaiting = status && Number(status.counters.Qcache_hits ?? 0) === 0;
  return (
    <ChartPanel
      title={t('cache.now')}
      subject={subject}
      model={model}
      height={240}
      isFilled
      actions={
        <ButtonLink variant="default" to="/instances/$instanceId/monitoring" params={{ instanceId }}>
          {t('cache.longer')}
        </ButtonLink>
      }
    >
      {isWaiting && <p className={classes.hint}>{t('live.waiting')}</p>}
      <div className={classes.holds}>
        <FactList facts={[...(status ? factsOf(status, t) : []), useNearFact(instanceId)]} />
      </div>
    </ChartPanel>
  );
}

function useNearFact(instanceId: string): Fact {
  const t = useT();
  const { data } = useQuery(nearCachesQuery(instanceId));
  const value = (
    <TextLink to="/instances/$instanceId/near" params={{ instanceId }}>
      {data ? nearText(data.items, t) : ABSENT}
    </TextLink>
  );
  return { label: t('instance.room.near'), value };
}

function nearText(items: NearCache[], t: Translate): string {
  if (items.length === 0) return t('cache.nearNone');
  const serving = items.filter(({ state }) => state === 'serving').length;
  const others = items.length - serving;
  const here = t('cache.nearServing', { count: serving });
  return others > 0 ? `${here}, ${t('cache.nearOthers', { count: others })}` : here;
}

/** The contents and counters of the cache as facts. Counters since the server's start are labelled as such. */
function factsOf(status: CacheStatus, t: Translate): Fact[] {
  const counter = (name: string) => Number(status.counters[name] ?? NaN);
  const { connections } = status;
  return [
    {
      label: t('live.memory'),
      value:
        status.size_bytes === null
          ? ABSENT
          : `${formatBytes(status.size_bytes)}, ${t('live.free', { size: formatBytes(counter('Qcache_free_memory') || 0) })}`,
    },
    { label: t('live.entries'), value: formatCompact(counter('Qcache_queries_in_cache')) },
    ...(connections
      ? [
          {
            label: t('live.connections'),
            value: t('live.ofAll', { served: connections.served, all: connections.all }),
          },
        ]
      : []),
    { label: t('live.prunes'), value: formatCompact(counter('Qcache_lowmem_prunes')) },
    ...(status.counters.Fqc_invalidations_avoided === undefined
      ? []
      : [
          {
            label: t('live.avoided'),
            value: (
              <span title={t('cache.avoidedHint')}>
                {formatCompact(counter('Fqc_invalidations_avoided'))}
              </span>
            ),
          },
        ]),
  ];
}
