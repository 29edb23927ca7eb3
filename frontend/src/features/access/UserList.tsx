import { Button, Group } from '@mantine/core';
import { useInfiniteQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { useCan } from '@/api/session';
import { ConfirmModal } from '@/components/ConfirmModal';
import type { Column } from '@/components/column';
import { EmptyState } from '@/components/EmptyState';
import { IconLock, IconPlus } from '@/components/icons';
import { ListPanel } from '@/components/ListPanel';
import { Moment } from '@/components/Moment';
import { RowActions } from '@/components/RowActions';
import { StatusBadge } from '@/components/StatusBadge';
import { useT, type Translate } from '@/lib/i18n/context';
import { useUserDelete, usersQuery, type User } from './api';
import { UserForm } from './UserForm';
import classes from './UserList.module.css';

type Dialog = { kind: 'form'; user?: User } | { kind: 'delete'; user: User };

export function UserList() {
  const t = useT();
  const isAdmin = useCan('admin');
  const users = useInfiniteQuery({ ...usersQuery, enabled: isAdmin });
  const remove = useUserDelete();
  const [dialog, setDialog] = useState<Dialog>();
  const close = () => {
    remove.reset();
    setDialog(undefined);
  };
  if (!isAdmin) return <EmptyState icon={<IconLock size={20} />} title={t('access.adminOnly')} />;
  return (
    <>
      <ListPanel
        query={users}

        actions={
          <Button leftSection={<IconPlus size={14} />} onClick={() => setDialog({ kind: 'form' })}>
            {t('access.addUser')}
          </Button>
        }
        label={t('access.users')}
        rowKey={(row) => row.id}
        columns={columnsOf(t, setDialog)}
      />
      {dialog?.kind === 'form' && <UserForm user={dialog.user} onClose={close} />}
      {dialog?.kind === 'delete' && (
        <ConfirmModal
          title={t('access.deleteUser', { name: dialog.user.username })}
          confirm={t('action.delete')}
          error={remove.error}
          isBusy={remove.isPending}
          onConfirm={() => remove.mutate(dialog.user, { onSuccess: close })}
          onClose={close}
        >
          {t('access.deleteUserHint')}
        </ConfirmModal>
      )}
    </>
  );
}

function statusOf({ is_active, confirmed_until }: User): 'active' | 'inactive' | 'unconfirmed' {
  if (!is_active) return 'inactive';
  return confirmed_until && Date.parse(confirmed_until) <= Date.now() ? 'unconfirmed' : 'active';
}

function columnsOf(t: Translate, open: (dialog: Dialog) => void): Column<User>[] {
  return [
    {
      key: 'user',
      header: t('access.user'),
      render: (row) => (
        <>
          <strong>{row.username}</strong>
          {row.subject && <span className={classes.source}> {t('access.byProvider')}</span>}
        </>
      ),
      sortValue: (row) => row.username,
    },
    { key: 'email', header: t('access.email'), render: (row) => row.email || '–', isSecondary: true },
    { key: 'role', header: t('access.role'), render: (row) => row.role, sortValue: (row) => row.role },
    {
      key: 'status',
      header: t('access.status'),
      render: (row) => {
        const status = statusOf(row);
        return (
          <StatusBadge tone={status === 'active' ? 'ok' : 'neutral'}>{t(`access.${status}`)}</StatusBadge>
        );
      },
    },
    {
      key: 'login',
      header: t('access.lastLogin'),
      render: (row) => (row.last_login ? <Moment at={row.last_login} relative /> : t('state.never')),
      isSecondary: true,
    },
    {
      key: 'actions',
      header: '',
      align: 'right',
      render: (row) => (
        <Group gap={4} justify="flex-end" wrap="nowrap">
          <RowActions
            editLabel={t('access.editUser', { name: row.username })}
            deleteLabel={t('access.deleteUser', { name: row.username })}
            onEdit={() => open({ kind: 'form', user: row })}
            onDelete={() => open({ kind: 'delete', user: row })}
          />
        </Group>
      ),
    },
  ];
}
