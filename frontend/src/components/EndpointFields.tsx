import { Group, NumberInput, PasswordInput, Switch, Textarea, TextInput } from '@mantine/core';
import { useFieldMessage } from '@/components/useFieldMessage';
import { useT } from '@/lib/i18n/context';

export interface Endpoint {
  host: string;
  port: number;
  username: string;
  password: string;
  trialUsername: string;
  trialPassword: string;
  isTlsRequired: boolean;
  /** Certificates as PEM text; one of them signed the certificate of the server. Empty keeps the stored ones, or means those of the system. */
  tlsCa: string;
  /** The server's RSA public key as PEM text, which encrypts the password without TLS. Empty keeps the stored key. */
  publicKey: string;
}

interface EndpointFieldsProps {
  endpoint: Endpoint;
  /**
   * Present if a password is stored already: an empty field then keeps it. `isPasswordDue` is true if the password has
   * to be entered again, because it would go elsewhere. Absent for a new endpoint.
   */
  stored?: { isPasswordDue: boolean };
  error: unknown;
  onChange: (next: Partial<Endpoint>) => void;
}

/**
 * The fields for the address and the accounts with which the control plane connects to a server. `error` is the error
 * of the last submission; each field shows its own part of it.
 */
export function EndpointFields({ endpoint, stored, error, onChange }: EndpointFieldsProps) {
  const t = useT();
  const said = useFieldMessage();
  const text = (name: 'host' | 'username') => ({
    label: t(`addInstance.${name}`),
    required: true,
    value: endpoint[name],
    error: said(error, name),
    onChange: (event: { currentTarget: { value: string } }) =>
      onChange({ [name]: event.currentTarget.value }),
  });
  return (
    <>
      <Group grow align="flex-start" gap="sm">
        <TextInput {...text('host')} />
        <NumberInput
          label={t('addInstance.port')}
          required
          min={1}
          max={65535}
          hideControls
          value={endpoint.port}
          error={said(error, 'port')}
          onChange={(port) => onChange({ port: Number(port) })}
        />
      </Group>
      <TextInput {...text('username')} autoComplete="off" />
      <PasswordInput
        {...(stored?.isPasswordDue
          ? { label: t('addInstance.password'), description: t('instance.passwordDue'), required: true }
          : {
              label: t(stored ? 'access.newPassword' : 'addInstance.password'),
              description: t(stored ? 'access.newPasswordHint' : 'addInstance.passwordHint'),
            })}
        size="xs"
        autoComplete="new-password"
        value={endpoint.password}
        error={said(error, 'password')}
        onChange={(event) => onChange({ password: event.currentTarget.value })}
      />
      <Group grow align="flex-start" gap="sm">
        <TextInput
          label={t('addInstance.trialUsername')}
          description={t('addInstance.trialUsernameHint')}
          autoComplete="off"
          value={endpoint.trialUsername}
          error={said(error, 'trial_username')}
          onChange={(event) => onChange({ trialUsername: event.currentTarget.value })}
        />
        <PasswordInput
          label={t('addInstance.trialPassword')}
          description={t(stored ? 'access.newPasswordHint' : 'addInstance.passwordHint')}
          size="xs"
          autoComplete="new-password"
          value={endpoint.trialPassword}
          error={said(error, 'trial_password')}
          onChange={(event) => onChange({ trialPassword: event.currentTarget.value })}
        />
      </Group>
      <Switch
        label={t('addInstance.tls')}
        checked={endpoint.isTlsRequired}
        onChange={(event) => onChange({ isTlsRequired: event.currentTarget.checked })}
      />
      {endpoint.isTlsRequired ? (
        <Textarea
          label={t('addInstance.tlsCa')}
          description={t(stored ? 'addInstance.publicKeyKept' : 'addInstance.tlsCaHint')}
          autosize
          minRows={2}
          maxRows={6}
          value={endpoint.tlsCa}
          error={said(error, 'tls_ca')}
          onChange={(event) => onChange({ tlsCa: event.currentTarget.value })}
        />
      ) : (
        <Textarea
          label={t('addInstance.publicKey')}
          description={t(stored ? 'addInstance.publicKeyKept' : 'addInstance.publicKeyHint')}
          autosize
          minRows={2}
          maxRows={6}
          value={endpoint.publicKey}
          error={said(error, 'public_key')}
          onChange={(event) => onChange({ publicKey: event.currentTarget.value })}
        />
      )}
    </>
  );
}
