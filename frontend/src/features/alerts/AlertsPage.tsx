import { Tabs } from '@mantine/core';
import { useNavigate, useSearch } from '@tanstack/react-router';
import { useCan } from '@/api/session';
import { PageHeader } from '@/components/PageHeader';
import { useT } from '@/lib/i18n/context';
import { ChannelList } from './ChannelList';
import { IncidentDrawer } from './IncidentDrawer';
import { IncidentList } from './IncidentList';
import { RuleList } from './RuleList';
import { ALERT_TABS } from './search';
import { SilenceList } from './SilenceList';

export function AlertsPage() {
  const t = useT();
  const { tab = 'incidents', show, incident } = useSearch({ from: '/console/alerts' });
  const navigate = useNavigate({ from: '/alerts' });
  const isAdmin = useCan('admin');
  const tabs = ALERT_TABS.filter((item) => item !== 'channels' || isAdmin);
  return (
    <>
      <PageHeader title={t('alerts.title')} description={t('alerts.description')} />
      <Tabs
        value={tab}
        onChange={(next) => void navigate({ search: { tab: ALERT_TABS.find((item) => item === next) } })}
      >
        <Tabs.List mb="md">
          {tabs.map((item) => (
            <Tabs.Tab key={item} value={item}>
              {t(`alerts.tab.${item}`)}
            </Tabs.Tab>
          ))}
        </Tabs.List>
        <Tabs.Panel value="incidents">
          {tab === 'incidents' && (
            <IncidentList
              isAll={show === 'all'}
              onShow={(isAll) =>
                void navigate({ search: (old) => ({ ...old, show: isAll ? 'all' : undefined }) })
              }
              onOpen={(id) => void navigate({ search: (old) => ({ ...old, incident: id }) })}
            />
          )}
        </Tabs.Panel>
        <Tabs.Panel value="rules">{tab === 'rules' && <RuleList />}</Tabs.Panel>
        <Tabs.Panel value="silences">{tab === 'silences' && <SilenceList />}</Tabs.Panel>
        <Tabs.Panel value="channels">{tab === 'channels' && isAdmin && <ChannelList />}</Tabs.Panel>
      </Tabs>
      <IncidentDrawer
        id={incident}
        onClose={() => void navigate({ search: (old) => ({ ...old, incident: undefined }) })}
      />
    </>
  );
}
