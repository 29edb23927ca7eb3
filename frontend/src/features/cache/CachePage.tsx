import { Stack } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { useNavigate, useParams, useSearch } from '@tanstack/react-router';
import { cacheAdviceQuery, cacheStatusQuery, prerequisitesQuery } from '@/api/instances';
import { nearCachesQuery } from '@/api/nearCaches';
import { SLOW_POLL_MS } from '@/api/useConnection';
import { enableObstacle } from '@/components/enableObstacle';
import { Panel } from '@/components/Panel';
import { QueryView } from '@/components/QueryView';
import { useT } from '@/lib/i18n/context';
import { ChangeFollower, useIsChanging } from './ChangeFollower';
import { CurvePanel } from './CurvePanel';
import { EnableFlow } from './EnableFlow';
import { LiveCache } from './LiveCache';
import { NoEngineHere } from './NoEngineHere';
import { NowPanel } from './NowPanel';
import { TrialStep } from './TrialStep';

/**
 * The page of an instance's cache. While the cache is off, it leads through enabling it; afterwards it shows whether it
 * pays, and how to change it.
 */
export function CachePage() {
  const { instanceId } = useParams({ from: '/console/instances/$instanceId' });
  const { change, try: statement, db } = useSearch({ from: '/console/instances/$instanceId/cache' });
  const t = useT();
  const navigate = useNavigate({ from: '/instances/$instanceId/cache' });
  const closeChange = () => void navigate({ search: {}, replace: true });
  const isChanging = useIsChanging(change);
  const status = useQuery(cacheStatusQuery(instanceId, SLOW_POLL_MS));
  return (
    <Stack gap="md">
      {statement && (
        <Panel title={t('statement.try')} description={t('enable.tryHint')}>
          <TrialStep instanceId={instanceId} statement={statement} database={db} />
        </Panel>
      )}
      {change && <ChangeFollower instanceId={instanceId} changeId={change} onClose={closeChange} />}
      <QueryView query={status}>
        {(data) =>
          data.is_enabled ? (
            <LiveCache instanceId={instanceId} status={data} />
          ) : (
            !isChanging && (
              <>
                <NearCachesAlone instanceId={instanceId} />
                <WayToEnabling instanceId={instanceId} />
              </>
            )
          )
        }
      </QueryView>
    </Stack>
  );
}

function WayToEnabling({ instanceId }: { instanceId: string }) {
  const check = useQuery(prerequisitesQuery(instanceId));
  return (
    <QueryView query={check}>
      {({ findings }) => {
        const obstacle = enableObstacle(findings);
        return obstacle?.code === 'no_engine_there' ? (
          <NoEngineHere instanceId={instanceId} finding={obstacle} />
        ) : (
          <>
            <EnableFlow instanceId={instanceId} />
            <Prediction instanceId={instanceId} />
          </>
        );
      }}
    </QueryView>
  );
}

/** The hit ratio that the reads observed so far predict for each size of the cache. */
function Prediction({ instanceId }: { instanceId: string }) {
  const advice = useQuery(cacheAdviceQuery(instanceId));
  return (
    <QueryView query={advice}>
      {({ curve }) => <CurvePanel instanceId={instanceId} curve={curve} />}
    </QueryView>
  );
}

/** For a server whose cache is off: what its near caches answer, if any of them serves. Otherwise nothing. */
function NearCachesAlone({ instanceId }: { instanceId: string }) {
  const { data } = useQuery(nearCachesQuery(instanceId));
  return data?.items.some(({ state }) => state === 'serving') ? <NowPanel instanceId={instanceId} /> : null;
}
