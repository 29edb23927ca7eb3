import { useParams } from '@tanstack/react-router';
import { useState } from 'react';
import { IncidentDrawer } from './IncidentDrawer';
import { IncidentList } from './IncidentList';

export function InstanceAlertsPage() {
  const { instanceId } = useParams({ from: '/console/instances/$instanceId' });
  const [isAll, setIsAll] = useState(true);
  const [opened, setOpened] = useState<string>();
  return (
    <>
      <IncidentList instance={instanceId} isAll={isAll} onShow={setIsAll} onOpen={setOpened} />
      <IncidentDrawer id={opened} onClose={() => setOpened(undefined)} />
    </>
  );
}
