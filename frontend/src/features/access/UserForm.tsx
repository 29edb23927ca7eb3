import { PasswordInput, Select, Switch, Text, TextInput } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { sessionQuery } from '@/api/session';
import { useFieldMessage } from '@/components/useFieldMessage';
import { FormModal } from '@/components/FormModal';
import { useT } from '@/lib/i18n/context';
import { useUserCreate, useUserUpdate, type Ended, type User } from './api';
import { EndedModal, hasEnded } from './EndedModal';
import { roleOptions, type RoleName } from './roles';

/** The dialog that edits `user`, or creates a user if there is none. An edit sends only what was changed. */
export function UserForm({ user, onClose }: { user?: User; onClose: () => void }) {
  const t = useT();
  const said = useFieldMessage();
  const create = useUserCreate();
  const update = useUserUpdate();
  const mutation = user ? update : create;
  const [username, setUsername] = useState(user?.username ?? '');
  const [email, setEmail] = useState(user?.email ?? '');
  const [role, setRole] = useState<RoleName>((user?.role as RoleName | undefined) ?? 'viewer');
  const [isActive, setIsActive] = useState(user?.is_active ?? true);
  const [password, setPassword] = useState('');
  const [keepsTokens, setKeepsTokens] = useState(false);
  const [ended, setEnded] = useState<Ended>();
  const { data: session } = useQuery(sessionQuery);
  const isOneself = Boolean(user && user.id === session?.user?.id);
  const isByProvider = Boolean(user?.subject);
  const isEnding = Boolean(user && (password || (user.is_active && !isActive)));

  const submit = () => {
    if (!user) return create.mutate({ username, email, role, password }, { onSuccess: onClose });
    const ending = isEnding && { keep_tokens: keepsTokens };
    const ours = isByProvider ? {} : { email, role, ...(password && { password }) };
    const patch = { ...ours, is_active: isActive, ...ending };
    const tell = ({ ended }: { ended: Ended }) => (hasEnded(ended) ? setEnded(ended) : onClose());
    update.mutate({ user, patch }, { onSuccess: tell });
  };
  if (ended) return <EndedModal name={username} ended={ended} onClose={onClose} />;
  return (
    <FormModal
      title={user ? t('access.editUser', { name: user.username }) : t('access.addUser')}
      submit={t(user ? 'action.save' : 'action.create')}
      mutation={mutation}
      onSubmit={submit}
      onClose={onClose}
    >
      {user && isByProvider && (
        <Text size="xs">{t('access.byProviderHint', { issuer: user.issuer, subject: user.subject })}</Text>
      )}
      <TextInput
        label={t('access.user')}
        required
        disabled={Boolean(user)}
        autoComplete="off"
        value={username}
        error={said(mutation.error, 'username')}
        onChange={(event) => setUsername(event.currentTarget.value)}
      />
      <TextInput
        label={t('access.email')}
        type="email"
        disabled={isByProvider}
        value={email}
        error={said(mutation.error, 'email')}
        onChange={(event) => setEmail(event.currentTarget.value)}
      />
      <Select
        label={t('access.role')}
        data={roleOptions(t)}
        disabled={isByProvider}
        value={role}
        onChange={(next) => setRole(next as RoleName)}
      />
      {!isOneself && !isByProvider && (
        <PasswordInput
          label={t(user ? 'access.newPassword' : 'access.password')}
          description={`${t('access.passwordRule')}${user ? ` ${t('access.newPasswordHint')}` : ''}`}
          size="xs"
          required={!user}
          autoComplete="new-password"
          value={password}
          error={said(mutation.error, 'password')}
          onChange={(event) => setPassword(event.currentTarget.value)}
        />
      )}
      {user && (
        <Switch
          label={t('access.active')}
          checked={isActive}
          onChange={(event) => setIsActive(event.currentTarget.checked)}
        />
      )}
      {isEnding && (
        <Switch
          label={t('access.keepTokens')}
          description={t('access.keepTokensHint')}
          checked={keepsTokens}
          onChange={(event) => setKeepsTokens(event.currentTarget.checked)}
        />
      )}
    </FormModal>
  );
}
