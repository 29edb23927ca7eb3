import { Button, Group, NumberInput, PasswordInput, Select, Stack, Textarea, TextInput } from '@mantine/core';
import { useState } from 'react';
import { useFieldMessage } from '@/components/useFieldMessage';
import { ErrorPanel } from '@/components/ErrorPanel';
import { IconMail } from '@/components/icons';
import { Panel } from '@/components/Panel';
import { StatusBadge } from '@/components/StatusBadge';
import { useT } from '@/lib/i18n/context';
import { useTestMail } from './api';
import type { SettingsPanelProps } from './panelProps';

const SECURITIES = ['none', 'starttls', 'tls'] as const;

export function MailPanel({
  draft,
  error,
  onChange,
  hasPassword,
  isPasswordDue,
}: SettingsPanelProps & { hasPassword: boolean; isPasswordDue: boolean }) {
  const t = useT();
  const said = useFieldMessage();
  const text = (name: 'smtp_host' | 'smtp_username' | 'mail_from') => ({
    label: t(`settings.${name}`),
    value: draft[name],
    error: said(error, name),
    onChange: (event: { currentTarget: { value: string } }) =>
      onChange({ [name]: event.currentTarget.value }),
  });
  return (
    <Panel title={t('settings.mail')} description={t('settings.mailHint')}>
      <Stack gap="sm">
        <Group grow align="flex-start">
          <TextInput {...text('smtp_host')} />
          <NumberInput
            label={t('settings.smtp_port')}
            min={1}
            max={65535}
            hideControls
            value={draft.smtp_port}
            error={said(error, 'smtp_port')}
            onChange={(value) => onChange({ smtp_port: Number(value) })}
          />
        </Group>
        <Select
          label={t('settings.smtp_security')}
          data={SECURITIES.map((value) => ({ value, label: t(`settings.security.${value}`) }))}
          value={draft.smtp_security}
          error={said(error, 'smtp_security')}
          onChange={(next) => onChange({ smtp_security: next ?? '' })}
        />
        <TextInput {...text('smtp_username')} autoComplete="off" />
        <PasswordInput
          label={t('settings.smtp_password')}
          description={t(
            isPasswordDue
              ? 'settings.passwordDue'
              : hasPassword
                ? 'access.newPasswordHint'
                : 'addInstance.passwordHint',
          )}
          required={isPasswordDue}
          size="xs"
          autoComplete="new-password"
          value={draft.smtp_password}
          error={said(error, 'smtp_password')}
          onChange={(event) => onChange({ smtp_password: event.currentTarget.value })}
        />
        <TextInput {...text('mail_from')} />
        <Textarea
          label={t('settings.mail_to')}
          description={t('settings.onePerLine')}
          size="xs"
          autosize
          minRows={2}
          value={draft.mail_to}
          error={said(error, 'mail_to')}
          onChange={(event) => onChange({ mail_to: event.currentTarget.value })}
        />
        <TestMail />
      </Stack>
    </Panel>
  );
}

function TestMail() {
  const t = useT();
  const said = useFieldMessage();
  const test = useTestMail();
  const [to, setTo] = useState('');
  return (
    <>
      <Group align="flex-end" gap="xs">
        <TextInput
          flex={1}
          type="email"
          label={t('settings.testTo')}
          description={t('settings.testHint')}
          value={to}
          error={said(test.error, 'to')}
          onChange={(event) => setTo(event.currentTarget.value)}
        />
        <Button
          variant="default"
          leftSection={<IconMail size={14} />}
          disabled={to === ''}
          loading={test.isPending}
          onClick={() => test.mutate(to)}
        >
          {t('settings.test')}
        </Button>
      </Group>
      {test.isError && <ErrorPanel error={test.error} />}
      {test.data && (
        <div role="status">
          <StatusBadge tone="ok">{t('settings.testSent', { to: test.data.to })}</StatusBadge>
        </div>
      )}
    </>
  );
}
