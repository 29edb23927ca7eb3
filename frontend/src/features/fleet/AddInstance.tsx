import {
  Button,
  Group,
  Modal,
  NumberInput,
  PasswordInput,
  SegmentedControl,
  Select,
  Stack,
  Switch,
  TextInput,
} from '@mantine/core';
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { useState, type FormEvent } from 'react';
import { api, unwrap } from '@/api/client';
import { fieldMessage } from '@/api/errors';
import { ErrorPanel } from '@/components/ErrorPanel';
import { formatBytes } from '@/lib/bytes';
import { useT } from '@/lib/i18n/context';
import { readTags } from '@/lib/tags';
import { classesQuery } from './api';
import { emptyDraft, requestOf, type InstanceDraft } from './instanceDraft';

export function AddInstance({ onClose }: { onClose: () => void }) {
  const t = useT();
  const client = useQueryClient();
  const navigate = useNavigate();
  const { data: classList = [] } = useQuery(classesQuery);
  const [draft, setDraft] = useState(emptyDraft);
  const set = (next: Partial<InstanceDraft>) => setDraft((old) => ({ ...old, ...next }));
  const add = useMutation({
    mutationFn: () => unwrap(api.POST('/api/v1/instances', { body: requestOf(draft) })),
    onSuccess: async (instance) => {
      await client.invalidateQueries({ queryKey: ['instance'] });
      await navigate({ to: '/instances/$instanceId', params: { instanceId: instance.id } });
    },
  });
  const submit = (event: FormEvent) => {
    event.preventDefault();
    add.mutate();
  };
  const text = (name: 'name' | 'host' | 'username') => ({
    label: t(`addInstance.${name}`),
    required: true,
    value: draft[name],
    error: fieldMessage(add.error, name),
    onChange: (event: { currentTarget: { value: string } }) => set({ [name]: event.currentTarget.value }),
  });
  return (
    <Modal opened onClose={onClose} title={t('addInstance.title')}>
      <form onSubmit={submit}>
        <Stack gap="sm">
          {add.isError && <ErrorPanel error={add.error} />}
          <SegmentedControl
            size="xs"
            fullWidth
            value={draft.provider}
            onChange={(provider) => set({ provider })}
            data={[
              { value: 'external', label: t('addInstance.external') },
              { value: 'local', label: t('addInstance.local') },
            ]}
          />
          <TextInput {...text('name')} data-autofocus />
          <Select
            label={t('addInstance.class')}
            required
            data={classList.map((item) => ({
              value: item.name,
              label: t('addInstance.classText', {
                name: item.name,
                cpu: item.cpu_count,
                memory: formatBytes(item.memory_bytes),
              }),
            }))}
            value={draft.instanceClass}
            onChange={(instanceClass) => set({ instanceClass })}
            error={fieldMessage(add.error, 'instance_class')}
          />
          {draft.provider === 'external' && (
            <>
              <Group grow align="flex-start">
                <TextInput {...text('host')} />
                <NumberInput
                  label={t('addInstance.port')}
                  required
                  min={1}
                  max={65535}
                  hideControls
                  value={draft.port}
                  error={fieldMessage(add.error, 'port')}
                  onChange={(port) => set({ port: Number(port) })}
                />
              </Group>
              <TextInput {...text('username')} autoComplete="off" />
              <PasswordInput
                label={t('addInstance.password')}
                description={t('addInstance.passwordHint')}
                size="xs"
                autoComplete="new-password"
                value={draft.password}
                error={fieldMessage(add.error, 'password')}
                onChange={(event) => set({ password: event.currentTarget.value })}
              />
              <Switch
                label={t('addInstance.tls')}
                checked={draft.isTlsRequired}
                onChange={(event) => set({ isTlsRequired: event.currentTarget.checked })}
              />
            </>
          )}
          <TextInput
            label={t('addInstance.tags')}
            description={t('addInstance.tagsHint')}
            value={draft.tags}
            error={readTags(draft.tags) ? fieldMessage(add.error, 'tags') : t('addInstance.tagsHint')}
            onChange={(event) => set({ tags: event.currentTarget.value })}
          />
          <Group justify="flex-end" gap="xs">
            <Button variant="default" onClick={onClose}>
              {t('action.cancel')}
            </Button>
            <Button type="submit" loading={add.isPending} disabled={!draft.instanceClass}>
              {t('addInstance.submit')}
            </Button>
          </Group>
        </Stack>
      </form>
    </Modal>
  );
}
