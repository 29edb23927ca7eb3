import { useState } from 'react';
import { FormModal } from '@/components/FormModal';
import { ShownOnce } from '@/components/ShownOnce';
import { useT } from '@/lib/i18n/context';
import { useAccessKeyCreate } from './api';
import { CredentialFields, type Credential } from './CredentialFields';

export function AccessKeyForm({ onClose }: { onClose: () => void }) {
  const t = useT();
  const create = useAccessKeyCreate();
  const [credential, setCredential] = useState<Credential>({ name: '', scope: 'viewer' });
  if (create.data)
    return (
      <ShownOnce
        title={t('access.addKey')}
        facts={[
          { label: t('access.keyId'), value: create.data.id },
          { label: t('access.keySecret'), value: create.data.secret },
        ]}
        onClose={onClose}
      />
    );
  return (
    <FormModal
      title={t('access.addKey')}
      submit={t('action.create')}
      mutation={create}
      onSubmit={() => create.mutate(credential)}
      onClose={onClose}
    >
      <CredentialFields credential={credential} error={create.error} onChange={setCredential} />
    </FormModal>
  );
}
