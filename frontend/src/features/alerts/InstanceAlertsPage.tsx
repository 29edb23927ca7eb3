import { Stack } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { useNavigate, useParams, useSearch } from '@tanstack/react-router';
import { instanceQuery } from '@/api/instances';
import { IncidentDrawer } from './IncidentDrawer';
import { IncidentList } from './IncidentList';
import { InstanceRules } from './InstanceRules';

export function InstanceAlertsPage() {
  const { instanceId } = useParams({ from: '/console/instances/$instanceId' });
  const { show, incident } = useSearch({ from: '/console/instances/$instanceId/alerts' });
  const navigate = useNavigate({ from: '/instances/$instanceId/alerts' });
  const { data: instance } = useQuery(instanceQuery(instanceId));
  return (
    <Stack gap="md">
      <IncidentList
        instance={instanceId}
        isAll={show !== 'open'}
        onShow={(isAll) => void navigate({ search: { show: isAll ? undefined : 'open' } })}
        onOpen={(id) => void navigate({ search: (old) => ({ ...old, incident: id }) })}
      />
      {instance && <InstanceRules instance={instance} />}
      <IncidentDrawer
        id={incident}
        onClose={() => void navigate({ search: (old) => ({ ...old, incident: undefined }) })}
      />
    </Stack>
  );
}
