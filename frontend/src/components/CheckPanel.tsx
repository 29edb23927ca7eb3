import { Button } from '@mantine/core';
import type { UseQueryResult } from '@tanstack/react-query';
import type { Finding } from '@/api/changes';
import { useCan } from '@/api/session';
import { useT } from '@/lib/i18n/context';
import { ErrorPanel } from './ErrorPanel';
import { FindingList } from './FindingList';
import { IconRefresh } from './icons';
import { Panel } from './Panel';
import { QueryView } from './QueryView';
import { useFindingActionPage } from './useFindingAction';

interface CheckPanelProps {
  instanceId: string;
  check: UseQueryResult<{ findings: Finding[] }>;
  verdict?: string;
}

/**
 * The findings of a check of a running server, with a button that runs the check again. A button of a finding starts
 * its fix, and opens the page of the change set that this creates.
 */
export function CheckPanel({ instanceId, check, verdict }: CheckPanelProps) {
  const t = useT();
  const canChange = useCan('operator');
  const act = useFindingActionPage(instanceId);
  return (
    <Panel
      title={t('prerequisites.title')}
      description={verdict}
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
