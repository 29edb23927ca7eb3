import { Button } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { prerequisitesQuery } from '@/api/instances';
import { useCan } from '@/api/session';
import { ErrorPanel } from '@/components/ErrorPanel';
import { FindingList } from '@/components/FindingList';
import { IconRefresh } from '@/components/icons';
import { Panel } from '@/components/Panel';
import { QueryView } from '@/components/QueryView';
import { useFindingActionPage } from '@/components/useFindingAction';
import { useT } from '@/lib/i18n/context';

/** The checklist before the cache may be enabled, asked of the running server. */
export function PrerequisitesPanel({ instanceId }: { instanceId: string }) {
  const t = useT();
  const canChange = useCan('operator');
  const check = useQuery(prerequisitesQuery(instanceId));
  const act = useFindingActionPage(instanceId);
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
      {act.error && <ErrorPanel error={act.error} />}
      <QueryView query={check}>
        {(data) => (
          <FindingList
            findings={data.findings}
            onAct={canChange ? act.run : undefined}
            isBusy={act.isPending}
          />
        )}
      </QueryView>
    </Panel>
  );
}
