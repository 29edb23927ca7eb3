import { Button, Group, Modal, Select, Stack, TextInput } from '@mantine/core';
import { useState, type FormEvent } from 'react';
import { fieldMessage } from '@/api/errors';
import { ErrorPanel } from '@/components/ErrorPanel';
import { useT } from '@/lib/i18n/context';
import { useTokenCreate } from './api';
import { roleOptions, type RoleName } from './roles';
import { ShownOnce } from './ShownOnce';

const LIFETIMES_DAYS = [7, 30, 90, 365];
const DAY_MS = 86_400_000;

export function TokenForm({ onClose }: { onClose: () => void }) {
  const t = useT();
  const create = useTokenCreate();
  const [name, setName] = useState('');
  const [scope, setScope] = useState<RoleName>('viewer');
  const [days, setDays] = useState(90);
  const submit = (event: FormEvent) => {
    event.preventDefault();
    create.mutate({ name, scope, expires_at: new Date(Date.now() + days * DAY_MS).toISOString() });
  };
  if (create.data)
    return (
      <ShownOnce
        title={t('access.addToken')}
        facts={[{ label: t('access.token'), value: create.data.token }]}
        onClose={onClose}
      />
    );
  return (
    <Modal opened onClose={onClose} title={t('access.addToken')}>
      <form onSubmit={submit}>
        <Stack gap="sm">
          {create.isError && <ErrorPanel error={create.error} />}
          <TextInput
            label={t('access.tokenName')}
            required
            data-autofocus
            value={name}
            error={fieldMessage(create.error, 'name')}
            onChange={(event) => setName(event.currentTarget.value)}
          />
          <Select
            label={t('access.tokenScope')}
            data={roleOptions(t)}
            value={scope}
            error={fieldMessage(create.error, 'scope')}
            onChange={(next) => setScope(next as RoleName)}
          />
          <Select
            label={t('access.tokenDays')}
            data={LIFETIMES_DAYS.map((value) => ({
              value: String(value),
              label: t('access.days', { days: value }),
            }))}
            value={String(days)}
            onChange={(next) => setDays(Number(next))}
          />
          <Group justify="flex-end" gap="xs">
            <Button variant="default" onClick={onClose}>
              {t('action.cancel')}
            </Button>
            <Button type="submit" loading={create.isPending}>
              {t('action.create')}
            </Button>
          </Group>
        </Stack>
      </form>
    </Modal>
  );
}
