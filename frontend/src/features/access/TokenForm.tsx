import { Select } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { useFieldMessage } from '@/components/useFieldMessage';
import { sessionQuery } from '@/api/session';
import { FormModal } from '@/components/FormModal';
import { ShownOnce } from '@/components/ShownOnce';
import { useT } from '@/lib/i18n/context';
import { useTokenCreate } from './api';
import { CredentialFields, type Credential } from './CredentialFields';
import { expiryOf, lifetimesUpTo, usualLifetime } from './tokenLifetime';

export function TokenForm({ onClose }: { onClose: () => void }) {
  const t = useT();
  const said = useFieldMessage();
  const create = useTokenCreate();
  const [credential, setCredential] = useState<Credential>({ name: '', scope: 'viewer' });
  const { data: session } = useQuery(sessionQuery);
  const most = session?.token_lifetime_days ?? 1;
  const [chosen, setChosen] = useState<number>();
  const days = chosen ?? usualLifetime(most);
  if (create.data)
    return (
      <ShownOnce
        title={t('access.addToken')}
        facts={[{ label: t('access.token'), value: create.data.token }]}
        onClose={onClose}
      />
    );
  return (
    <FormModal
      title={t('access.addToken')}
      submit={t('action.create')}
      mutation={create}
      onSubmit={() => create.mutate({ ...credential, expires_at: expiryOf(days, Date.now()) })}
      onClose={onClose}
    >
      <CredentialFields credential={credential} error={create.error} onChange={setCredential} />
      <Select
        label={t('access.tokenDays')}
        data={lifetimesUpTo(most).map((value) => ({
          value: String(value),
          label: t('access.days', { days: value }),
        }))}
        value={String(days)}
        error={said(create.error, 'expires_at')}
        onChange={(next) => setChosen(Number(next ?? days))}
      />
    </FormModal>
  );
}
