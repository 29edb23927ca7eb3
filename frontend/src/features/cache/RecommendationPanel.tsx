import { Button, Group, Switch } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { useState } from 'react';
import { HEADLINES, instanceHeadlinesQuery } from '@/api/headlines';
import type { CacheStatus } from '@/api/instances';
import { useCan } from '@/api/session';
import { HeadlineTile } from '@/charts/HeadlineTile';
import { percentCourse as course } from '@/charts/Sparkline';
import { ConfirmModal } from '@/components/ConfirmModal';
import { Panel } from '@/components/Panel';
import { Recommendation } from '@/components/Recommendation';
import { StatTiles } from '@/components/StatTile';
import { StatusBadge } from '@/components/StatusBadge';
import { useT } from '@/lib/i18n/context';
import { useCacheDisable } from './api';
import classes from './cache.module.css';

/** The key figures that the cache affects: all but the buffer pool's. */
const SHOWN = HEADLINES.filter((name) => name !== 'buffer_pool_hit_ratio');

/** Whether the cache that is on pays: one sentence, and the figures of the past hour that it rests on. */
export function RecommendationPanel({ instanceId, status }: { instanceId: string; status: CacheStatus }) {
  const t = useT();
  const canChange = useCan('operator');
  const query = useQuery(instanceHeadlinesQuery(instanceId));
  const [isDisabling, setIsDisabling] = useState(false);
  return (
    <Panel
      title={t('cache.pays')}
      actions={
        <Group gap="xs">
          <StatusBadge tone="ok">{t('cache.enabled')}</StatusBadge>
          {canChange && (
            <Button variant="default" onClick={() => setIsDisabling(true)}>
              {t('live.disable')}
            </Button>
          )}
        </Group>
      }
    >
      <Recommendation instanceId={instanceId} course={course} />
      <NotServed status={status} />
      <div className={classes.tiles}>
        <StatTiles>
          {SHOWN.map((name) => (
            <HeadlineTile key={name} name={name} query={query} />
          ))}
        </StatTiles>
      </div>
      {isDisabling && <DisableCache instanceId={instanceId} onClose={() => setIsDisabling(false)} />}
    </Panel>
  );
}

/**
 * A notice that the cache does not serve some connections, because they were opened before it was enabled. Nothing if
 * it serves all.
 */
function NotServed({ status: { connections } }: { status: CacheStatus }) {
  const t = useT();
  if (!connections || connections.served >= connections.all) return null;
  return (
    <p className={classes.notServed} role="status">
      <StatusBadge tone="warn">
        {t('live.connectionsOf', { served: connections.served, all: connections.all })}
      </StatusBadge>{' '}
      {t('live.reconnect')}
    </p>
  );
}

function DisableCache({ instanceId, onClose }: { instanceId: string; onClose: () => void }) {
  const t = useT();
  const navigate = useNavigate({ from: '/instances/$instanceId/cache' });
  const disable = useCacheDisable(instanceId, (change) => {
    onClose();
    void navigate({ search: { change: change.id } });
  });
  const [isPoolRestored, setIsPoolRestored] = useState(true);
  return (
    <ConfirmModal
      title={t('live.disableAsk')}
      confirm={t('live.disable')}
      error={disable.error}
      isBusy={disable.isPending}
      onConfirm={() => disable.mutate(isPoolRestored)}
      onClose={onClose}
    >
      <p style={{ marginTop: 0 }}>{t('live.disableHint')}</p>
      <Switch
        label={t('live.restorePool')}
        checked={isPoolRestored}
        onChange={(event) => setIsPoolRestored(event.currentTarget.checked)}
      />
    </ConfirmModal>
  );
}
