// The frame of an instance's pages: name, state and tabs. The contents of the tabs belong to other features.
import { Tabs } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { Outlet, useNavigate, useParams, useRouterState } from '@tanstack/react-router';
import { useEffect, useRef } from 'react';
import { instanceQuery } from '@/api/instances';
import { useCan } from '@/api/session';
import { InstanceState } from '@/components/InstanceState';
import { TextLink } from '@/components/links';
import { PageHeader } from '@/components/PageHeader';
import { QueryPage } from '@/components/QueryPage';
import { useT } from '@/lib/i18n/context';
import { InstanceActions } from './InstanceActions';

const ROOMS = [
  'overview',
  'cache',
  'near',
  'queries',
  'monitoring',
  'parameters',
  'history',
  'alerts',
] as const;
type Room = (typeof ROOMS)[number];

export function InstanceLayout() {
  const t = useT();
  const { instanceId } = useParams({ from: '/console/instances/$instanceId' });
  const canChange = useCan('operator');
  const instance = useQuery(instanceQuery(instanceId));
  const back = <TextLink to="/fleet">{t('fleet.title')}</TextLink>;
  const current = useRoom();
  const rooms = <RoomTabs instanceId={instanceId} current={current} />;
  const room = t(`instance.room.${current}`);
  return (
    <QueryPage query={instance} eyebrow={back} title={instanceId} room={room} rooms={rooms}>
      {(data) => (
        <>
          <PageHeader
            eyebrow={back}
            title={data.name}
            room={room}
            status={<InstanceState state={data.state} reason={data.state_reason} />}
            description={data.state_reason || undefined}
            actions={canChange && <InstanceActions instance={data} />}
          />
          {rooms}
          <Outlet />
        </>
      )}
    </QueryPage>
  );
}

/**
 * The active tab, by the address. A page without a tab of its own belongs to another page's: rules to the cache, a
 * change to the history.
 */
function useRoom(): Room {
  const path = useRouterState({ select: (state) => state.location.pathname });
  const belongsTo = path.endsWith('/rules') ? 'cache' : path.includes('/changes/') ? 'history' : 'overview';
  return ROOMS.find((room) => path.endsWith(`/${room}`)) ?? belongsTo;
}

function RoomTabs({ instanceId, current }: { instanceId: string; current: Room }) {
  const t = useT();
  const navigate = useNavigate();
  // The row of tabs, whose active tab is scrolled into view, since on a phone it may be beyond the edge.
  const list = useRef<HTMLDivElement>(null);
  useEffect(() => {
    const tab = list.current?.querySelector('[aria-selected="true"]');
    tab?.scrollIntoView({ block: 'nearest', inline: 'center' });
  }, [current]);
  const open = (room: Room) => navigate({ to: `/instances/$instanceId/${room}`, params: { instanceId } });
  return (
    <Tabs value={current} onChange={(room) => void open(room as Room)} mb="md" keepMounted={false}>
      <Tabs.List ref={list}>
        {ROOMS.map((room) => (
          <Tabs.Tab key={room} value={room}>
            {t(`instance.room.${room}`)}
          </Tabs.Tab>
        ))}
      </Tabs.List>
      {ROOMS.map((room) => (
        <Tabs.Panel key={room} value={room}>
          {null}
        </Tabs.Panel>
      ))}
    </Tabs>
  );
}
