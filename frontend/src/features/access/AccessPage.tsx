import { Tabs } from '@mantine/core';
import { useNavigate, useSearch } from '@tanstack/react-router';
import { useCan } from '@/api/session';
import { PageHeader } from '@/components/PageHeader';
import { useT } from '@/lib/i18n/context';
import { AccessKeyList } from './AccessKeyList';
import { ACCESS_TABS } from './search';
import { SessionList } from './SessionList';
import { TokenList } from './TokenList';
import { UserList } from './UserList';

export function AccessPage() {
  const t = useT();
  const isAdmin = useCan('admin');
  const { tab = isAdmin ? 'users' : 'tokens' } = useSearch({ from: '/console/access' });
  const navigate = useNavigate({ from: '/access' });
  return (
    <>
      <PageHeader title={t('access.title')} description={t('access.description')} />
      <Tabs
        value={tab}
        onChange={(next) => void navigate({ search: { tab: ACCESS_TABS.find((item) => item === next) } })}
      >
        <Tabs.List mb="md">
          {ACCESS_TABS.map((item) => (
            <Tabs.Tab key={item} value={item}>
              {t(`access.${item}`)}
            </Tabs.Tab>
          ))}
        </Tabs.List>
        <Tabs.Panel value="users">{tab === 'users' && <UserList />}</Tabs.Panel>
        <Tabs.Panel value="tokens">{tab === 'tokens' && <TokenList />}</Tabs.Panel>
        <Tabs.Panel value="keys">{tab === 'keys' && <AccessKeyList />}</Tabs.Panel>
        <Tabs.Panel value="sessions">{tab === 'sessions' && <SessionList />}</Tabs.Panel>
      </Tabs>
    </>
  );
}
