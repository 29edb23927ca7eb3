import { Progress } from '@mantine/core';
import { useQuery, useQueryClient } from '@tanstack/react-query';
import { useEffect } from 'react';
import { changeQuery } from '@/api/changes';
import { ChangeStateBadge } from '@/components/ChangeStateBadge';
import { ErrorPanel } from '@/components/ErrorPanel';
import { ButtonLink } from '@/components/links';
import { Panel } from '@/components/Panel';
import { useT } from '@/lib/i18n/context';
import classes from './enable.module.css';

/** How far the change set is that was just started; when it ends, the cache's state is asked again. */
export function ChangeFollower({ instanceId, changeId }: { instanceId: string; changeId: string }) {
  const t = useT();
  const client = useQueryClient();
  const { data, error } = useQuery(changeQuery(changeId));
  const state = data?.state;
  useEffect(() => {
    void client.invalidateQueries({ queryKey: ['instance'] });
  }, [client, state]);
  if (error) return <ErrorPanel error={error} />;
  if (!data) return null;
  const { done = 0, total = 0 } = data.progress;
  return (
    <Panel
      title={t(`change.kind.${data.kind}`)}
      actions={
        <>
          <ChangeStateBadge state={data.state} />
          <ButtonLink
            variant="default"
            to="/instances/$instanceId/changes/$changeId"
            params={{ instanceId, changeId }}
          >
            {t('action.open')}
          </ButtonLink>
        </>
      }
    >
      <div className={classes.follow}>
        <Progress
          flex={1}
          size="sm"
          value={total ? (done / total) * 100 : 0}
          aria-label={t('change.steps')}
        />
        <span>{t('change.progress', { done, total })}</span>
      </div>
      {data.outcome_detail && <p className={classes.hint}>{data.outcome_detail}</p>}
    </Panel>
  );
}
