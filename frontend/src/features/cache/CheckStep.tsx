import { Button } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { prerequisitesQuery } from '@/api/instances';
import { useCan } from '@/api/session';
import { ErrorPanel } from '@/components/ErrorPanel';
import { FindingList } from '@/components/FindingList';
import { IconRefresh } from '@/components/icons';
import { QueryView } from '@/components/QueryView';
import { useFindingAction } from '@/components/useFindingAction';
import { useT } from '@/lib/i18n/context';
import classes from './cache.module.css';

export function CheckStep({ instanceId }: { instanceId: string }) {
  const t = useT();
  const canChange = useCan('operator');
  const navigate = useNavigate({ from: '/instances/$instanceId/cache' });
  const check = useQuery(prerequisitesQuery(instanceId));
  const act = useFindingAction(
    instanceId,
    (change) => void navigate({ search: { step: 0, change: change.id } }),
  );
  return (
    <>
      {act.error && <ErrorPanel error={act.error} />}
      <QueryView query={check}>
        {(data) => (
          <>
            <FindingList
              findings={data.findings}
              onAct={canChange ? act.run : undefined}
              isBusy={act.isPending}
            />
            <Button
              className={classes.recheck}
              variant="default"
              leftSection={<IconRefresh size={14} />}
              loading={check.isFetching}
              onClick={() => void check.refetch()}
            >
              {t('prerequisites.check')}
            </Button>
          </>
        )}
      </QueryView>
    </>
  );
}
