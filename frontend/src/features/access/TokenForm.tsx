import { Select } from '@mantine/core';
import { useState } from 'react';
import { fieldMessage } from '@/api/errors';
import { FormModal } from '@/components/FormModal';
import { useT } from '@/lib/i18n/context';
import { useTokenCreate } from './api';
import { CredentialFields, type Credential } from './CredentialFields';
import { ShownOnce } from './ShownOnce';
import { expiryOf, LIFETIMES_DAYS } from './tokenLifetime';

export function TokenForm({ onClose }: { onClose: () => void }) {
  const t = useT();
  const create = useTokenCreate();
  const [credential, setCredential] = useState<Credential>({ name: '', scope: 'viewer' });
  const [days, setDays] = useState<number>(90);
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
        data={LIFETIMES_DAYS.map((value) => ({
          value: String(value),
          label: t('access.days', { days: value }),
        }))}
        value={String(days)}
        error={fieldMessage(create.error, 'expires_at')}
        onChange={(next) => setDays(LIFETIMES_DAYS.find((value) => String(value) === next) ?? days)}
      />
    </FormModal>
  );
}
