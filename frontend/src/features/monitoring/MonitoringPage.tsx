import { Stack } from '@mantine/core';
import { useInfiniteQuery, useQuery } from '@tanstack/react-query';
import { useNavigate, useParams, useSearch } from '@tanstack/react-router';
import { instanceChangesQuery, type ChangeSummary } from '@/api/changes';
import { instanceQuery, type Instance } from '@/api/instances';
import type { Annotation } from '@/charts/timeChartModel';
import { QueryView } from '@/components/QueryView';
import { useT, type Translate } from '@/lib/i18n/context';
import { metricsQuery } from './api';
import { MonitoringToolbar } from './MonitoringToolbar';
import { PanelGrid } from './PanelGrid';
import type { Source } from './panels';
import type { MonitoringSearch } from './search';

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
  const t = useT();
  const main = useQuery(metricsQuery(instance.id, search));
  const changes = useInfiniteQuery(instanceChangesQuery(instance.id));
  const compared = useCompared(search);
  return (
    <QueryView query={main}>
      {(answer) => {
        const sources: Source[] = [{ label: instance.name, answer }, ...compared];
        return (
          <PanelGrid
            instanceId={instance.id}
            sources={sources}
            annotations={(changes.data ?? []).flatMap((change) => annotationOf(change, t))}
            hasEngine={instance.has_engine}
            onZoom={onZoom}
          />
        );
      }}
    </QueryView>
  );
}

function useCompared(search: MonitoringSearch): Source[] {
  const id = search.compare ?? '';
  const isOn = id !== '';
  const other = useQuery({ ...instanceQuery(id), enabled: isOn });
  const metrics = useQuery({ ...metricsQuery(id, search), enabled: isOn });
  return isOn && other.data && metrics.data ? [{ label: other.data.name, answer: metrics.data }] : [];
}

/** Where a change took effect, a mark on every chart. */
function annotationOf(change: ChangeSummary, t: Translate): Annotation[] {
  if (change.state !== 'applied' || !change.finished_at) return [];
  return [{ at: new Date(change.finished_at).getTime(), label: t(`change.kind.${change.kind}`) }];
}
