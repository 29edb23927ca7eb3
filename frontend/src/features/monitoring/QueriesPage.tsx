import { Stack } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { useNavigate, useParams, useSearch } from '@tanstack/react-router';
import { cacheAdviceQuery, type CacheAdvice } from '@/api/instances';
import { useCan } from '@/api/session';
import { percentCourse as course } from '@/charts/Sparkline';
import { EmptyState } from '@/components/EmptyState';
import { ErrorPanel } from '@/components/ErrorPanel';
import { FindingList } from '@/components/FindingList';
import { Panel } from '@/components/Panel';
import { QueryView } from '@/components/QueryView';
import { Recommendation } from '@/components/Recommendation';
import { useFindingActionPage } from '@/components/useFindingAction';
import { useT } from '@/lib/i18n/context';
import { CurvePanel } from './CurvePanel';
import { TableAdvice } from './TableAdvice';
import { TableFigures } from './TableFigures';
import { TopQueries } from './TopQueries';

export function QueriesPage() {
  const { instanceId } = useParams({ from: '/console/instances/$instanceId' });
  const { by, span, statement } = useSearch({ from: '/console/instances/$instanceId/queries' });
  const navigate = useNavigate({ from: '/instances/$instanceId/queries' });
  const t = useT();
  const advice = useQuery(cacheAdviceQuery(instanceId));
  return (
    <QueryView query={advice}>
      {(data) => (
        <Stack gap="md">
          <Panel title={t('observe.title')}>
            <Recommendation instanceId={instanceId} course={course} />
          </Panel>
          <CurvePanel instanceId={instanceId} curve={data.curve} />
          <AdvicePanel instanceId={instanceId} findings={data.findings} />
          <TopQueries
            instanceId={instanceId}
            span={span}
            onSpan={(next) => void navigate({ search: (old) => ({ ...old, span: next }), replace: true })}
            ranking={by}
            isObserving={data.observation?.is_running ?? false}
            onRank={(next) => void navigate({ search: (old) => ({ ...old, by: next }), replace: true })}
            open={statement}
            onOpen={(digest) =>
              void navigate({ search: (old) => ({ ...old, statement: digest }), replace: true })
            }
          />
          <TableFigures instanceId={instanceId} />
          <TableAdvice advice={data} />
        </Stack>
      )}
    </QueryView>
  );
}

interface AdvicePanelProps {
  instanceId: string;
  findings: CacheAdvice['findings'];
}

function AdvicePanel({ instanceId, findings }: AdvicePanelProps) {
  const t = useT();
  const canChange = useCan('operator');
  const act = useFindingActionPage(instanceId);
  return (
    <Panel title={t('queries.findings')}>
      {act.error && <ErrorPanel error={act.error} />}
      {findings.length === 0 && <EmptyState title={t('queries.noFindings')} />}
      <FindingList findings={findings} onAct={canChange ? act.run : undefined} isBusy={act.isPending} />
    </Panel>
  );
}
