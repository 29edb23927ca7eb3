import { Button, Progress } from '@mantine/core';
import { useQuery, useQueryClient } from '@tanstack/react-query';
import { useEffect } from 'react';
import { changeQuery, isAtWork, type Change } from '@/api/changes';
import { ChangeStateBadge } from '@/components/ChangeStateBadge';
import { ButtonLink } from '@/components/links';
import { Panel } from '@/components/Panel';
import { QueryView } from '@/components/QueryView';
import { useT } from '@/lib/i18n/context';
import classes from './cache.module.css';

interface ChangeFollowerProps {
  instanceId: string;
  changeId: string;
  onClose: () => void;
}

/**
 * True while the change set with this id is at work, when other actions have to wait for its outcome. False without an
 * id.
 */
export function useIsChanging(changeId = ''): boolean {
  const { data } = useQuery({ ...changeQuery(changeId), enabled: changeId !== '' });
  return data !== undefined && isAtWork(data.state);
}

/**
 * The progress of the change set that was just started. Whenever its state changes, everything about the instance is
 * refetched.
 */
export function ChangeFollower({ instanceId, changeId, onClose }: ChangeFollowerProps) {
  const client = useQueryClient();
  const change = useQuery(changeQuery(changeId));
  const state = change.data?.state;
  useEffect(() => {
    void client.invalidateQueries({ queryKey: ['instance'] });
  }, [client, state]);
  return (
    <QueryView query={change}>
      {(data) => <Followed instanceId={instanceId} change={data} onClose={onClose} />}
    </QueryView>
  );
}

interface FollowedProps {
  instanceId: string;
  change: Change;
  onClose: () => void;
}

/** The progress of a change set, and after its end one line with the outcome, which can be closed. */
function Followed({ instanceId, change, onClose }: FollowedProps) {
  const t = useT();
  const { done = 0, total = 0 } = change.progress;
  return (
    <Panel
      title={t(`change.kind.${change.kind}`)}
      actions={
        <>
          <ChangeStateBadge change={change} />
          <ButtonLink
            variant="default"
            to="/instances/$instanceId/changes/$changeId"
            params={{ instanceId, changeId: change.id }}
          >
            {t('action.open')}
          </ButtonLink>
          {!isAtWork(change.state) && (
            <Button variant="subtle" color="gray" onClick={onClose}>
              {t('action.close')}
            </Button>
          )}
        </>
      }
    >
      {change.state === 'applied' ? (
        <p className={classes.hint}>{t('change.tookEffect')}</p>
      ) : (
        <div className={classes.follow}>
          <Progress
            flex={1}
            size="sm"
            value={total ? (done / total) * 100 : 0}
            aria-label={t('change.steps')}
          />
          <span>{t('change.progress', { done, total })}</span>
        </div>
      )}
      {change.outcome_detail && <p className={classes.hint}>{change.outcome_detail}</p>}
    </Panel>
  );
}
