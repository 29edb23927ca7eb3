import { Button, Group, Modal, Select, Stack, TextInput } from '@mantine/core';
import { useState, type FormEvent } from 'react';
import { fieldMessage } from '@/api/errors';
import { ErrorPanel } from '@/components/ErrorPanel';
import { useT } from '@/lib/i18n/context';
import { useAccessKeyCreate } from './api';
import { roleOptions, type RoleName } from './roles';
import { ShownOnce } from './ShownOnce';

export function AccessKeyForm({ onClose }: { onClose: () => void }) {
  const t = useT();
  const create = useAccessKeyCreate();
  const [name, setName] = useState('');
  const [scope, setScope] = useState<RoleName>('viewer');
  const submit = (event: FormEvent) => {
    event.preventDefault();
    create.mutate({ name, scope });
  };
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
    <Modal opened onClose={onClose} title={t('access.addKey')}>
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
