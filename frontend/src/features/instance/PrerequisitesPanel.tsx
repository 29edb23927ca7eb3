import { Button } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { preparedBy, prerequisitesQuery, useInstanceAction } from '@/api/instances';
import { useCan } from '@/api/session';
import { ErrorPanel } from '@/components/ErrorPanel';
import { FindingList } from '@/components/FindingList';
import { IconRefresh } from '@/components/icons';
import { Panel } from '@/components/Panel';
import { QueryView } from '@/components/QueryView';
import { useT } from '@/lib/i18n/context';

/** The checklist before the cache may be enabled, asked of the running server. */
export function PrerequisitesPanel({ instanceId }: { instanceId: string }) {
  const t = useT();
  const canChange = useCan('operator');
  const navigate = useNavigate();
  const check = useQuery(prerequisitesQuery(instanceId));
  const act = useInstanceAction(
    instanceId,
    (change) =>
      void navigate({
        to: '/instances/$instanceId/changes/$changeId',
        params: { instanceId, changeId: change.id },
      }),
  );
  const run = (route: string, body: Record<string, unknown>) => {
    const set = preparedBy(route, body);
    if (set) {
      void navigate({ to: '/instances/$instanceId/parameters', params: { instanceId }, search: { set } });
      return;
    }
    act.mutate({ route, body });
  };
  return (
    <Panel
      title={t('prerequisites.title')}
      description={check.data && t(check.data.is_ready ? 'prerequisites.ready' : 'prerequisites.notReady')}
      actions={
        <Button
          variant="default"
          leftSection={<IconRefresh size={14} />}
          loading={check.isFetching}
          onClick={() => void check.refetch()}
        >
          {t('prerequisites.check')}
        </Button>
      }
    >
      {act.isError && <ErrorPanel error={act.error} />}
      <QueryView query={check}>
        {(data) => (
          <FindingList findings={data.findings} onAct={canChange ? run : undefined} isBusy={act.isPending} />
        )}
      </QueryView>
    </Panel>
  );
}
