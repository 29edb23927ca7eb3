import { Button, Group, SimpleGrid, Stack } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import type { FormEvent } from 'react';
import { useCan } from '@/api/session';
import { EmptyState } from '@/components/EmptyState';
import { ErrorPanel } from '@/components/ErrorPanel';
import { RestoredNotice } from '@/components/RestoredNotice';
import { IconLock } from '@/components/icons';
import { PageHeader } from '@/components/PageHeader';
import { QueryView } from '@/components/QueryView';
import { StatusBadge } from '@/components/StatusBadge';
import { useT } from '@/lib/i18n/context';
import { useStoredForm } from '@/lib/useStoredForm';
import { settingsQuery, useSettingsUpdate, type Settings } from './api';
import { MailPanel } from './MailPanel';
import { NetworkPanel } from './NetworkPanel';
import { RetentionPanel } from './RetentionPanel';
import { draftOf, isMailMoved, patchOf, type SettingsDraft } from './settingsDraft';

export function SettingsPage() {
  const t = useT();
  const isAdmin = useCan('admin');
  const settings = useQuery({ ...settingsQuery, enabled: isAdmin });
  return (
    <>
      <PageHeader title={t('settings.title')} />
      {isAdmin ? (
        <QueryView query={settings}>{(data) => <SettingsForm settings={data} />}</QueryView>
      ) : (
        <EmptyState icon={<IconLock size={20} />} title={t('settings.adminOnly')} />
      )}
    </>
  );
}

function SettingsForm({ settings }: { settings: Settings }) {
  const t = useT();
  const update = useSettingsUpdate(settings.version);
  const [draft, setDraft, forget, startOver] = useStoredForm(
    `settings.${settings.version}`,
    () => draftOf(settings),
    ['smtp_password'],
  );
  const patch = patchOf(draft, settings);
  const isChanged = Object.keys(patch).length > 0;
  const panel = {
    draft,
    error: update.error,
    onChange: (next: Partial<SettingsDraft>) => setDraft((old) => ({ ...old, ...next })),
  };
  const submit = (event: FormEvent) => {
    event.preventDefault();
    update.mutate(patch, {
      onSuccess: () => {
        forget();
        setDraft((old) => ({ ...old, smtp_password: '' }));
      },
    });
  };
  return (
    <form onSubmit={submit}>
      <Stack gap="md">
        <RestoredNotice onStartOver={startOver} />
        <SimpleGrid cols={{ base: 1, md: 2 }} spacing="md">
          <MailPanel
            {...panel}
            hasPassword={settings.has_smtp_password}
            isPasswordDue={isMailMoved(draft, settings)}
          />
          <Stack gap="md">
            <NetworkPanel {...panel} />
            <RetentionPanel {...panel} />
          </Stack>
        </SimpleGrid>
        {update.isError && <ErrorPanel error={update.error} />}
        <Group justify="flex-end">
          {update.isSuccess && !isChanged && (
            <span role="status">
              <StatusBadge tone="ok">{t('settings.saved')}</StatusBadge>
            </span>
          )}
          <Button type="submit" size="sm" loading={update.isPending} disabled={!isChanged}>
            {t('action.save')}
          </Button>
        </Group>
      </Stack>
    </form>
  );
}
