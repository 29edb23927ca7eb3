// The near caches of an instance: which there are, what they answer, what they cost writers, and how to start one.
import { Stack } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { useNavigate, useParams, useSearch } from '@tanstack/react-router';
import { nearCachesQuery } from '@/api/nearCaches';
import { CheckPanel } from '@/components/CheckPanel';
import { Panel } from '@/components/Panel';
import { QueryView } from '@/components/QueryView';
import { useT } from '@/lib/i18n/context';
import { nearPrerequisitesQuery } from './nearApi';
import { NearCharts } from './NearCharts';
import { NearReports } from './NearReports';
import { NearTable } from './NearTable';
import { NearWays } from './NearWays';

export function NearCachesPage() {
  const t = useT();
  const { instanceId } = useParams({ from: '/console/instances/$instanceId' });
  const { range = '1h' } = useSearch({ from: '/console/instances/$instanceId/near' });
  const navigate = useNavigate({ from: '/instances/$instanceId/near' });
  const nears = useQuery(nearCachesQuery(instanceId));
  const hasSome = (nears.data?.items.length ?? 0) > 0;
  return (
    <Stack gap="md">
      <Panel title={t('instance.room.near')} description={t('near.hint')} flush>
        <QueryView query={nears}>{({ items }) => <NearTable items={items} />}</QueryView>
      </Panel>
      {hasSome && (
        <NearCharts
          instanceId={instanceId}
          range={range}
          onRange={(next) => void navigate({ search: { range: next }, replace: true })}
        />
      )}
      <PrerequisitesAndWays instanceId={instanceId} />
      <NearReports instanceId={instanceId} />
    </Stack>
  );
}

function PrerequisitesAndWays({ instanceId }: { instanceId: string }) {
  const t = useT();
  const check = useQuery(nearPrerequisitesQuery(instanceId));
  const verdict = check.data && t(check.data.is_ready ? 'near.ready' : 'near.notReady');
  return (
    <>
      <CheckPanel instanceId={instanceId} check={check} verdict={verdict} />
      {check.data && <NearWays instanceId={instanceId} ways={check.data.ways} />}
    </>
  );
}
