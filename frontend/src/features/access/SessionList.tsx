// The user's console sessions, and the button that ends one.
import { Button } from '@mantine/core';
import { useInfiniteQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { ConfirmModal } from '@/components/ConfirmModal';
import type { Column } from '@/components/column';
import { ListPanel } from '@/components/ListPanel';
import { Moment } from '@/components/Moment';
import { useT, type Translate } from '@/lib/i18n/context';
import { EndOtherSessions } from './EndOtherSessions';
import { sessionsQuery, useSessionEnd, type OwnSession } from './api';
import { browserName } from './browserName';

export function SessionList() {
  const t = useT();
  const sessions = useInfiniteQuery(sessionsQuery);
  const end = useSessionEnd();
  const [isEndingOthers, setIsEndingOthers] = useState(false);
  const [doomed, setDoomed] = useState<OwnSession>();
  const close = () => {
    end.reset();
    setDoomed(undefined);
  };
  return (
    <>
      <ListPanel
        query={sessions}
        label={t('access.sessions')}
        actions={
          <Button
            variant="default"
            disabled={!sessions.data?.some((row) => !row.is_current)}
            onClick={() => setIsEndingOthers(true)}
          >
            {t('access.endOthers')}
          </Button>
        }
        rowKey={(row) => row.id}
        columns={columnsOf(t, setDoomed)}
      />
      {isEndingOthers && <EndOtherSessions onClose={() => setIsEndingOthers(false)} />}
      {doomed && (
        <ConfirmModal
          title={t('access.endSessionTitle')}
          confirm={t('access.endSession')}
          error={end.error}
          isBusy={end.isPending}
          onConfirm={() => end.mutate(doomed, { onSuccess: close })}
          onClose={close}
        >
          {t('access.endSessionHint')}
        </ConfirmModal>
      )}
    </>
  );
}

function columnsOf(t: Translate, end: (session: OwnSession) => void): Column<OwnSession>[] {
  return [
    {
      key: 'browser',
      header: t('access.browser'),
      render: (row) => (
        <strong title={row.browser ?? undefined}>{row.browser ? browserName(row.browser) : '–'}</strong>
      ),
    },
    { key: 'address', header: t('audit.address'), render: (row) => row.address ?? '–' },
    {
      key: 'since',
      header: t('access.loggedIn'),
      render: (row) => (row.logged_in_at ? <Moment at={row.logged_in_at} relative /> : '–'),
    },
    {
      key: 'expires',
      header: t('access.tokenExpires'),
      render: (row) => <Moment at={row.expires_at} />,
      isSecondary: true,
    },
    {
      key: 'actions',
      header: '',
      align: 'right',
      render: (row) =>
        row.is_current ? (
          t('access.thisSession')
        ) : (
          <Button variant="default" onClick={() => end(row)}>
            {t('access.endSession')}
          </Button>
        ),
    },
  ];
}
