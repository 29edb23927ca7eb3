import { Select, TextInput } from '@mantine/core';
import { fieldMessage } from '@/api/errors';
import { useT } from '@/lib/i18n/context';
import { roleOptions, type RoleName } from './roles';

export interface Credential {
  name: string;
  scope: RoleName;
}

interface CredentialFieldsProps {
  credential: Credential;
  error: unknown;
  onChange: (credential: Credential) => void;
}

/** What a token and an access key have in common: a name, and what it may do at most. */
export function CredentialFields({ credential, error, onChange }: CredentialFieldsProps) {
  const t = useT();
  return (
    <>
      <TextInput
        label={t('access.tokenName')}
        required
        data-autofocus
        value={credential.name}
        error={fieldMessage(error, 'name')}
        onChange={(event) => onChange({ ...credential, name: event.currentTarget.value })}
      />
      <Select
        label={t('access.tokenScope')}
        data={roleOptions(t)}
        value={credential.scope}
        error={fieldMessage(error, 'scope')}
        onChange={(next) => onChange({ ...credential, scope: next as RoleName })}
      />
    </>
  );
}
