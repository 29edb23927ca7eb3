import { SimpleGrid, Skeleton, Stack } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { useNavigate, useParams, useSearch } from '@tanstack/react-router';
import { instanceQuery, type Instance } from '@/api/instances';
import { QueryView } from '@/components/QueryView';
import { useT, useMetricText } from '@/lib/i18n/context';
import { metricsQuery } from './api';
import { ChangeMarks } from './ChangeMarks';
import { withRounds } from './liveSamples';
import { MonitoringToolbar } from './MonitoringToolbar';
import { PanelGrid } from './PanelGrid';
import {
  domainOf,
  shiftedInTime,
  translateSource,
  type MetricAnswer,
  type Source,
} from '@/charts/metricPanels';
import { lengthOf, type MonitoringSearch } from './search';
import { useChangeMarks } from './useChangeMarks';
import { useLiveRounds, type Live } from './useLiveRounds';

export function MonitoringPage() {
  const { instanceId } = useParams({ from: '/console/instances/$instanceId' });
  const search = useSearch({ from: '/console/instances/$instanceId/monitoring' });
  const navigate = useNavigate({ from: '/instances/$instanceId/monitoring' });
  const { data: instance } = useQuery(instanceQuery(instanceId));
  const change = (next: Partial<MonitoringSearch>) =>
    void navigate({ search: (old) => ({ ...old, ...next }) });
  if (!instance) return null;
  return (
    <Stack gap="md">
      <MonitoringToolbar instanceId={instanceId} search={search} onChange={change} />
      <Charts
        instance={instance}
        search={search}
        onZoom={(from, to) => change({ from, to, live: undefined })}
      />
    </Stack>
  );
}

interface ChartsProps {
  instance: Instance;
  search: MonitoringSearch;
  onZoom: (from: number, to: number) => void;
}

function Charts({ instance, search, onZoom }: ChartsProps) {
  const metricText = useMetricText();
  const live = useLiveRounds(instance.id, search);
  const main = useQuery(metricsQuery(instance.id, search, live.isConnected));
  const compared = useCompared(search, live);
  const previous = usePrevious(instance.id, search, live);
  return (
    <QueryView query={main} skeleton={<ChartsSkeleton />}>
      {(asked) => {
        const answer = withRounds(asked, live.rounds, instance.id);
        const domain = domainOf(answer);
        return (
          // The key changes with the selected span, which remounts the charts: their tooltip would still show a moment
          // of the old span.
          <MarkedCharts
            key={search.from === undefined ? 'latest' : domain.join()}
            instance={instance}
            sources={[{ label: instance.name, answer }, ...previous(answer), ...compared].map((source) =>
              translateSource(source, metricText),
            )}
            domain={domain}
            onZoom={onZoom}
          />
        );
      }}
    </QueryView>
  );
}

interface MarkedChartsProps {
  instance: Instance;
  sources: Source[];
  domain: [number, number];
  onZoom: (from: number, to: number) => void;
}

function MarkedCharts({ instance, sources, domain, onZoom }: MarkedChartsProps) {
  const t = useT();
  const navigate = useNavigate();
  const marks = useChangeMarks(instance.id, domain);
  const annotations = marks.map(({ id, kind, at }) => ({
    at,
    label: t(`change.kind.${kind}`),
    open: () =>
      void navigate({
        to: '/instances/$instanceId/changes/$changeId',
        params: { instanceId: instance.id, changeId: id },
      }),
  }));
  return (
    <div>
      <ChangeMarks instanceId={instance.id} marks={marks} />
      <PanelGrid
        sources={sources}
        annotations={annotations}
        hasEngine={instance.has_engine}
        onZoom={onZoom}
      />
    </div>
  );
}

function ChartsSkeleton() {
  return (
    <Stack gap="md">
      <Skeleton height={390} radius="lg" />
      <SimpleGrid cols={{ base: 1, md: 2 }}>
        <Skeleton height={290} radius="lg" />
        <Skeleton height={290} radius="lg" />
      </SimpleGrid>
    </Stack>
  );
}

/**
 * Returns a function that gives the instance's metrics of the preceding span of the same length, at the times of the
 * current response, as a second source of the charts. An empty list unless the address asks for it.
 */
function usePrevious(id: string, search: MonitoringSearch, live: Live) {
  const t = useT();
  const length = lengthOf(search);
  const { data } = useQuery({
    ...metricsQuery(id, search, live.isConnected, undefined, length),
    enabled: search.previous ?? false,
  });
  return (answer: MetricAnswer): Source[] =>
    search.previous && data
      ? [{ label: t('monitoring.previousOf'), answer: shiftedInTime(data, answer, length) }]
      : [];
}

function useCompared(search: MonitoringSearch, live: Live): Source[] {
  const id = search.compare ?? '';
  const isOn = id !== '';
  const other = useQuery({ ...instanceQuery(id), enabled: isOn });
  const metrics = useQuery({ ...metricsQuery(id, search, live.isConnected), enabled: isOn });
  if (!isOn || !other.data || !metrics.data) return [];
  return [{ label: other.data.name, answer: withRounds(metrics.data, live.rounds, id) }];
}
