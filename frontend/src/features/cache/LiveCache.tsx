// The page of a cache that is on. Its panels answer these questions in order: does it pay, what does it do now, what
// does it miss and why, what should I change.
import { Stack } from '@mantine/core';
import { useQueryClient } from '@tanstack/react-query';
import { useCallback } from 'react';
import type { CacheStatus } from '@/api/instances';
import { useSamples } from '@/api/useSamples';
import { NotCachedReasons } from '@/components/NotCachedReasons';
import { ButtonLink } from '@/components/links';
import { Panel } from '@/components/Panel';
import { useT } from '@/lib/i18n/context';
import { ChangePanels } from './ChangePanels';
import { NowPanel } from './NowPanel';
import { RecommendationPanel } from './RecommendationPanel';

interface LiveCacheProps {
  instanceId: string;
  status: CacheStatus;
}

export function LiveCache({ instanceId, status }: LiveCacheProps) {
  useFreshFigures(instanceId);
  return (
    <Stack gap="md">
      <RecommendationPanel instanceId={instanceId} status={status} />
      <NowPanel instanceId={instanceId} status={status} />
      <MissesPanel instanceId={instanceId} status={status} />
      <ChangePanels instanceId={instanceId} status={status} />
    </Stack>
  );
}

function MissesPanel({ instanceId, status }: LiveCacheProps) {
  const t = useT();
  return (
    <Panel
      title={t('cache.misses')}
      description={t('cache.missesHint')}
      actions={
        <ButtonLink
          variant="default"
          to="/instances/$instanceId/queries"
          params={{ instanceId }}
          search={{ by: 'waste' }}
        >
          {t('cache.missedStatements')}
        </ButtonLink>
      }
    >
      <NotCachedReasons status={status} />
    </Panel>
  );
}

/** While mounted, refetches the page's figures whenever the control plane has polled the server. */
function useFreshFigures(instanceId: string) {
  const client = useQueryClient();
  const askAgain = useCallback(() => {
    for (const what of ['reads', 'headlines'])
      void client.invalidateQueries({ queryKey: ['metrics', what, instanceId] });
    void client.invalidateQueries({ queryKey: ['instance', 'cache-status', instanceId] });
  }, [client, instanceId]);
  useSamples([instanceId], askAgain);
}
