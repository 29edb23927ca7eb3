import { Button, Group, Stack } from '@mantine/core';
import { useInfiniteQuery } from '@tanstack/react-query';
import { useState } from 'react';
import type { Column } from '@/components/column';
import { ConfirmModal } from '@/components/ConfirmModal';
import { EmptyState } from '@/components/EmptyState';
import { ErrorPanel } from '@/components/ErrorPanel';
import { IconBell, IconPlus } from '@/components/icons';
import { ListPanel } from '@/components/ListPanel';
import { Moment } from '@/components/Moment';
import { RowActions } from '@/components/RowActions';
import { StatusBadge } from '@/components/StatusBadge';
import { useT, type Translate } from '@/lib/i18n/context';
import { writeTags } from '@/lib/tags';
import { channelsQuery, useChannelDelete, useChannelTest, type Channel } from './channelApi';
import { ChannelForm } from './ChannelForm';
import classes from './alerts.module.css';

type Dialog = { kind: 'form'; channel?: Channel } | { kind: 'delete'; channel: Channel };

interface Actions {
  open: (dialog: Dialog) => void;
  test: (channel: Channel) => void;
  /** The id of the channel that is being tested. */
  busy: string | undefined;
}

export function ChannelList() {
  const t = useT();
  const channels = useInfiniteQuery(channelsQuery);
  const remove = useChannelDelete();
  const test = useChannelTest();
  const [dialog, setDialog] = useState<Dialog>();
  const close = () => {
    remove.reset();
    setDialog(undefined);
  };
  const actions: Actions = {
    open: setDialog,
    test: test.mutate,
    busy: test.isPending ? test.variables.id : undefined,
  };
  return (
    <Stack gap="md">
      {test.isError && <ErrorPanel error={test.error} />}
      {test.isSuccess && (
        <div role="status">
          <StatusBadge tone="ok">{t('channels.testSent', { name: test.variables.name })}</StatusBadge>
        </div>
      )}
      <ListPanel
        query={channels}
        actions={
          <Button leftSection={<IconPlus size={14} />} onClick={() => setDialog({ kind: 'form' })}>
            {t('channels.new')}
          </Button>
        }
        label={t('alerts.tab.channels')}
        rowKey={(row) => row.id}
        columns={columnsOf(t, actions)}
        empty={
          <EmptyState
            icon={<IconBell size={20} />}
            title={t('channels.empty')}
            hint={t('channels.emptyHint')}
          />
        }
      />
      {dialog?.kind === 'form' && <ChannelForm channel={dialog.channel} onClose={close} />}
      {dialog?.kind === 'delete' && (
        <ConfirmModal
          title={t('channels.deleteAsk', { name: dialog.channel.name })}
          confirm={t('action.delete')}
          error={remove.error}
          isBusy={remove.isPending}
          onConfirm={() => remove.mutate(dialog.channel, { onSuccess: close })}
          onClose={close}
        >
          {t('channels.deleteHint')}
        </ConfirmModal>
      )}
    </Stack>
  );
}

function whereOf(channel: Channel): string {
  if (channel.kind === 'mail') return channel.recipients.join(', ');
  return channel.url ? new URL(channel.url).host : '';
}

function columnsOf(t: Translate, { open, test, busy }: Actions): Column<Channel>[] {
  return [
    {
      key: 'name',
      header: t('channels.name'),
      render: (row) => (
        <>
          <strong>{row.name}</strong>
          <div className={classes.covers}>
            {[t(`channels.kind.${row.kind}`), whereOf(row)].filter(Boolean).join(', ')}
          </div>
        </>
      ),
      sortValue: (row) => row.name,
    },
    {
      key: 'takes',
      header: t('channels.takes'),
      render: (row) =>
        [
          t(row.least_severity === 'critical' ? 'channels.takesCritical' : 'channels.takesAll'),
          writeTags(row.tags),
        ]
          .filter(Boolean)
          .join(', '),
      isSecondary: true,
    },
    {
      key: 'state',
      header: t('fleet.state'),
      render: (row) => <ChannelState channel={row} t={t} />,
    },
    {
      key: 'sent',
      header: t('channels.lastSent'),
      render: (row) => <Moment at={row.last_sent_at} relative />,
      isSecondary: true,
    },
    {
      key: 'actions',
      header: '',
      align: 'right',
      render: (row) => (
        <Group gap={4} justify="flex-end" wrap="nowrap">
          <Button
            variant="default"
            size="compact-xs"
            loading={busy === row.id}
            aria-label={t('channels.testOf', { name: row.name })}
            onClick={() => test(row)}
          >
            {t('settings.test')}
          </Button>
          <RowActions
            editLabel={t('channels.edit', { name: row.name })}
            deleteLabel={t('channels.deleteAsk', { name: row.name })}
            onEdit={() => open({ kind: 'form', channel: row })}
            onDelete={() => open({ kind: 'delete', channel: row })}
          />
        </Group>
      ),
    },
  ];
}

function ChannelState({ channel, t }: { channel: Channel; t: Translate }) {
  if (!channel.is_enabled) return <StatusBadge tone="neutral">{t('state.off')}</StatusBadge>;
  if (!channel.last_error) return <StatusBadge tone="ok">{t('state.on')}</StatusBadge>;
  return (
    <>
      <StatusBadge tone="danger">{t('channels.failing')}</StatusBadge>
      <div className={classes.covers}>{channel.last_error}</div>
    </>
  );
}
