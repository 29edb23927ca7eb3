import { Button } from '@mantine/core';
import { useInfiniteQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { ConfirmModal } from '@/components/ConfirmModal';
import type { Column } from '@/components/column';
import { EmptyState } from '@/components/EmptyState';
import { IconKey, IconPlus } from '@/components/icons';
import { TextLink } from '@/components/links';
import { ListPanel } from '@/components/ListPanel';
import { Moment } from '@/components/Moment';
import { useT, type Translate } from '@/lib/i18n/context';
import { tokensQuery, useTokenRevoke, type Token } from './api';
import { TokenForm } from './TokenForm';

export function TokenList() {
  const t = useT();
  const tokens = useInfiniteQuery(tokensQuery);
  const revoke = useTokenRevoke();
  const [isCreating, setIsCreating] = useState(false);
  const [doomed, setDoomed] = useState<Token>();
  const close = () => {
    revoke.reset();
    setDoomed(undefined);
  };
  return (
    <>
      <ListPanel
        query={tokens}

        actions={
          <Button leftSection={<IconPlus size={14} />} onClick={() => setIsCreating(true)}>
            {t('access.addToken')}
          </Button>
        }
        label={t('access.tokens')}
        rowKey={(row) => row.id}
        columns={columnsOf(t, setDoomed)}
        empty={
          <EmptyState
            icon={<IconKey size={20} />}
            title={t('access.noTokens')}
            hint={t('access.noTokensHint')}
          />
        }
      />
      {isCreating && <TokenForm onClose={() => setIsCreating(false)} />}
      {doomed && (
        <ConfirmModal
          title={t('access.revokeToken', { name: doomed.name })}
          confirm={t('access.revoke')}
          error={revoke.error}
          isBusy={revoke.isPending}
          onConfirm={() => revoke.mutate(doomed, { onSuccess: close })}
          onClose={close}
        >
          {t('access.revokeHint')}
        </ConfirmModal>
      )}
    </>
  );
}

/**
 * The role of a token. For a token of a near cache, a link to the near caches of the one instance that it may report.
 */
function Scope({ token: { scope, instance_id: instanceId } }: { token: Token }) {
  if (!instanceId) return scope;
  return (
    <TextLink to="/instances/$instanceId/near" params={{ instanceId }}>
      {scope}
    </TextLink>
  );
}

function columnsOf(t: Translate, revoke: (token: Token) => void): Column<Token>[] {
  return [
    {
      key: 'name',
      header: t('access.tokenName'),
      render: (row) => <strong>{row.name}</strong>,
      sortValue: (row) => row.name,
    },
    {
      key: 'owner',
      header: t('access.tokenOwner'),
      render: (row) => row.username,
      sortValue: (row) => row.username,
    },
    {
      key: 'prefix',
      header: t('access.tokenPrefix'),
      render: (row) => <code>{row.prefix}…</code>,
      isSecondary: true,
    },
    { key: 'scope', header: t('access.tokenScope'), render: (row) => <Scope token={row} /> },
    {
      key: 'expires',
      header: t('access.tokenExpires'),
      render: (row) => <Moment at={row.expires_at} />,
      isSecondary: true,
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
      render: (row) => (
        <Button
          variant="subtle"
          color="red"
          size="compact-xs"
          onClick={() => revoke(row)}
          aria-label={t('access.revokeToken', { name: row.name })}
        >
          {t('access.revoke')}
        </Button>
      ),
    },
  ];
}
