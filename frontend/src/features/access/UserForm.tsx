import { PasswordInput, Select, Switch, TextInput } from '@mantine/core';
import { useState } from 'react';
import { useFieldMessage } from '@/components/useFieldMessage';
import { FormModal } from '@/components/FormModal';
import { useT } from '@/lib/i18n/context';
import { useUserCreate, useUserUpdate, type User } from './api';
import { roleOptions, type RoleName } from './roles';

/** New user, or an existing one: then only what was changed is sent. */
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

  const submit = () => {
    const done = { onSuccess: onClose };
    if (!user) return create.mutate({ username, email, role, password }, done);
    const patch = { email, role, is_active: isActive, ...(password && { password }) };
    update.mutate({ user, patch }, done);
  };
  return (
    <FormModal
      title={user ? t('access.editUser', { name: user.username }) : t('access.addUser')}
      submit={t(user ? 'action.save' : 'action.create')}
      mutation={mutation}
      onSubmit={submit}
      onClose={onClose}
    >
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
        value={email}
        error={said(mutation.error, 'email')}
        onChange={(event) => setEmail(event.currentTarget.value)}
      />
      <Select
        label={t('access.role')}
        data={roleOptions(t)}
        value={role}
        onChange={(next) => setRole(next as RoleName)}
      />
      <PasswordInput
        label={t(user ? 'access.newPassword' : 'access.password')}
        description={user ? t('access.newPasswordHint') : undefined}
        size="xs"
        required={!user}
        autoComplete="new-password"
        value={password}
        error={said(mutation.error, 'password')}
        onChange={(event) => setPassword(event.currentTarget.value)}
      />
      {user && (
        <Switch
          label={t('access.active')}
          checked={isActive}
          onChange={(event) => setIsActive(event.currentTarget.checked)}
        />
      )}
    </FormModal>
  );
}
