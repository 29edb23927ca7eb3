import { PasswordInput, Switch } from '@mantine/core';
import { useState } from 'react';
import { FormModal } from '@/components/FormModal';
import { useFieldMessage } from '@/components/useFieldMessage';
import { useT } from '@/lib/i18n/context';
import { usePasswordChange } from './api';
import { EndedModal } from './EndedModal';

/** The dialog with which the logged-in user changes the own password. The entries are never stored in the browser. */
export function PasswordForm({ username, onClose }: { username: string; onClose: () => void }) {
  const t = useT();
  const said = useFieldMessage();
  const change = usePasswordChange();
  const [current, setCurrent] = useState('');
  const [next, setNext] = useState('');
  const [keepsTokens, setKeepsTokens] = useState(true);
  if (change.data) return <EndedModal name={username} ended={change.data.ended} onClose={onClose} />;
  return (
    <FormModal
      title={t('user.changePassword')}
      submit={t('user.changePassword')}
      mutation={change}
      onSubmit={() =>
        change.mutate({ current_password: current, new_password: next, keep_tokens: keepsTokens })
      }
      onClose={onClose}
    >
      <input type="text" name="username" autoComplete="username" value={username} readOnly hidden />
      <PasswordInput
        label={t('user.currentPassword')}
        size="xs"
        required
        data-autofocus
        autoComplete="current-password"
        value={current}
        error={said(change.error, 'current_password')}
        onChange={(event) => setCurrent(event.currentTarget.value)}
      />
      <PasswordInput
        label={t('access.newPassword')}
        description={t('access.passwordRule')}
        size="xs"
        required
        autoComplete="new-password"
        value={next}
        error={said(change.error, 'new_password')}
        onChange={(event) => setNext(event.currentTarget.value)}
      />
      <Switch
        label={t('access.keepTokens')}
        description={t('user.keepTokensHint')}
        checked={keepsTokens}
        onChange={(event) => setKeepsTokens(event.currentTarget.checked)}
      />
    </FormModal>
  );
}
