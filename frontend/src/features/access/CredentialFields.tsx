import { Select, TextInput } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { useFieldMessage } from '@/components/useFieldMessage';
import { covers, sessionQuery } from '@/api/session';
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

/** The fields that tokens and access keys share: a name and a role. Only roles up to the user's own are offered. */
export function CredentialFields({ credential, error, onChange }: CredentialFieldsProps) {
  const t = useT();
  const said = useFieldMessage();
  const { data: session } = useQuery(sessionQuery);
  return (
    <>
      <TextInput
        label={t('access.tokenName')}
        required
        data-autofocus
        value={credential.name}
        error={said(error, 'name')}
        onChange={(event) => onChange({ ...credential, name: event.currentTarget.value })}
      />
      <Select
        label={t('access.tokenScope')}
        data={roleOptions(t).filter(({ value }) => covers(session?.role, value))}
        value={credential.scope}
        error={said(error, 'scope')}
        onChange={(next) => onChange({ ...credential, scope: next as RoleName })}
      />
    </>
  );
}
