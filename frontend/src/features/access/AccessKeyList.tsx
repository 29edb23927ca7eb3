// Keys that sign requests of the query API, in the manner of cloud SDKs. A disabled key may be enabled again.
import { Button, Group } from '@mantine/core';
import { useInfiniteQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { ConfirmModal } from '@/components/ConfirmModal';
import type { Column } from '@/components/column';
import { EmptyState } from '@/components/EmptyState';
import { ErrorPanel } from '@/components/ErrorPanel';
import { IconKey, IconPlus } from '@/components/icons';
import { ListPanel } from '@/components/ListPanel';
import { Moment } from '@/components/Moment';
import { StatusBadge } from '@/components/StatusBadge';
import { useT, type Translate } from '@/lib/i18n/context';
import { AccessKeyForm } from './AccessKeyForm';
import { accessKeysQuery, useAccessKeyDelete, useAccessKeySwitch, type AccessKey } from './api';

export function AccessKeyList() {
  const t = useT();
  const keys = useInfiniteQuery(accessKeysQuery);
  const turn = useAccessKeySwitch();
  const remove = useAccessKeyDelete();
  const [isCreating, setIsCreating] = useState(false);
  const [doomed, setDoomed] = useState<AccessKey>();
  const close = () => {
    remove.reset();
    setDoomed(undefined);
  };
  return (
    <>
      <ListPanel
        query={keys}

        description={t('access.keysHint')}
        actions={
          <Button leftSection={<IconPlus size={14} />} onClick={() => setIsCreating(true)}>
            {t('access.addKey')}
          </Button>
        }
        label={t('access.keys')}
        rowKey={(row) => row.id}
        columns={columnsOf(t, { turn: turn.mutate, remove: setDoomed })}
        empty={
          <EmptyState icon={<IconKey size={20} />} title={t('access.noKeys')} hint={t('access.noKeysHint')} />
        }
      >
        {turn.isError && <ErrorPanel error={turn.error} />}
      </ListPanel>
      {isCreating && <AccessKeyForm onClose={() => setIsCreating(false)} />}
      {doomed && (
        <ConfirmModal
          title={t('access.deleteKey', { name: doomed.name })}
          confirm={t('action.delete')}
          error={remove.error}
          isBusy={remove.isPending}
          onConfirm={() => remove.mutate(doomed, { onSuccess: close })}
          onClose={close}
        >
          {t('access.revokeHint')}
        </ConfirmModal>
      )}
    </>
  );
}

interface KeyActions {
  turn: (key: AccessKey) => void;
  remove: (key: AccessKey) => void;
}

function columnsOf(t: Translate, actions: KeyActions): Column<AccessKey>[] {
  return [
    {
      key: 'name',
      header: t('access.tokenName'),
      render: (row) => <strong>{row.name}</strong>,
      sortValue: (row) => row.name,
    },
    { key: 'id', header: t('access.keyId'), render: (row) => <code>{row.id}</code>, isSecondary: true },
    {
      key: 'owner',
      header: t('access.tokenOwner'),
      render: (row) => row.username,
      sortValue: (row) => row.username,
      isSecondary: true,
    },
    { key: 'scope', header: t('access.tokenScope'), render: (row) => row.scope, isSecondary: true },
    {
      key: 'status',
      header: t('access.status'),
      render: (row) => (
        <StatusBadge tone={row.is_active ? 'ok' : 'neutral'}>
          {t(row.is_active ? 'access.active' : 'access.inactive')}
        </StatusBadge>
      ),
    },
    {
      key: 'used',
      header: t('access.tokenUsed'),
      render: (row) => (row.last_used_at ? <Moment at={row.last_used_at} relative /> : t('state.never')),
      isSecondary: true,
    },
    {
      key: 'actions',
      header: '',
      align: 'right',
      render: (row) => <KeyButtons row={row} actions={actions} t={t} />,
    },
  ];
}

function KeyButtons({ row, actions, t }: { row: AccessKey; actions: KeyActions; t: Translate }) {
  return (
    <Group gap={4} justify="flex-end" wrap="nowrap">
      <Button
        variant="subtle"
        color="gray"
        size="compact-xs"
        onClick={() => actions.turn(row)}
        aria-label={t(row.is_active ? 'access.disableKey' : 'access.enableKey', { name: row.name })}
      >
        {t(row.is_active ? 'access.disable' : 'access.enable')}
      </Button>
      <Button
        variant="subtle"
        color="red"
        size="compact-xs"
        onClick={() => actions.remove(row)}
        aria-label={t('access.deleteKey', { name: row.name })}
      >
        {t('action.delete')}
      </Button>
    </Group>
  );
}
