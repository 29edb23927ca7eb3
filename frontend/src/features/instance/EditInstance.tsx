import {
  Button,
  Group,
  Modal,
  NumberInput,
  PasswordInput,
  Select,
  Stack,
  Switch,
  TextInput,
} from '@mantine/core';
import { useState, type FormEvent } from 'react';
import { fieldMessage } from '@/api/errors';
import type { Instance } from '@/api/instances';
import { ErrorPanel } from '@/components/ErrorPanel';
import { useT } from '@/lib/i18n/context';
import { readTags } from '@/lib/tags';
import { useInstanceUpdate } from './api';
import { editOf, patchOf, type InstanceEdit } from './instanceEdit';

const WEEKDAYS = [0, 1, 2, 3, 4, 5, 6] as const;

interface FieldsProps {
  edit: InstanceEdit;
  error: unknown;
  onChange: (next: Partial<InstanceEdit>) => void;
}

/** What the control plane knows of an instance; its server is not touched. */
export function EditInstance({ instance, onClose }: { instance: Instance; onClose: () => void }) {
  const t = useT();
  const update = useInstanceUpdate(instance);
  const [edit, setEdit] = useState(() => editOf(instance));
  const patch = patchOf(edit, instance);
  const fields: FieldsProps = {
    edit,
    error: update.error,
    onChange: (next) => setEdit((old) => ({ ...old, ...next })),
  };
  const submit = (event: FormEvent) => {
    event.preventDefault();
    update.mutate(patch, { onSuccess: onClose });
  };
  return (
    <Modal opened onClose={onClose} title={t('instance.editTitle', { name: instance.name })}>
      <form onSubmit={submit}>
        <Stack gap="sm">
          {update.isError && <ErrorPanel error={update.error} />}
          <NamingFields {...fields} />
          <WindowFields {...fields} />
          {instance.provider === 'external' && <EndpointFields {...fields} />}
          <Group justify="flex-end" gap="xs">
            <Button variant="default" onClick={onClose}>
              {t('action.cancel')}
            </Button>
            <Button
              type="submit"
              loading={update.isPending}
              disabled={Object.keys(patch).length === 0 || !readTags(edit.tags)}
            >
              {t('action.save')}
            </Button>
          </Group>
        </Stack>
      </form>
    </Modal>
  );
}

function NamingFields({ edit, error, onChange }: FieldsProps) {
  const t = useT();
  return (
    <>
      <TextInput
        label={t('addInstance.name')}
        required
        data-autofocus
        value={edit.name}
        error={fieldMessage(error, 'name')}
        onChange={(event) => onChange({ name: event.currentTarget.value })}
      />
      <TextInput
        label={t('instance.tags')}
        description={t('addInstance.tagsHint')}
        value={edit.tags}
        error={readTags(edit.tags) ? fieldMessage(error, 'tags') : t('addInstance.tagsHint')}
        onChange={(event) => onChange({ tags: event.currentTarget.value })}
      />
    </>
  );
}

function WindowFields({ edit, error, onChange }: FieldsProps) {
  const t = useT();
  return (
    <Group grow align="flex-start" gap="sm">
      <Select
        label={t('instance.maintenance')}
        data={[
          { value: '', label: t('instance.everyDay') },
          ...WEEKDAYS.map((day) => ({ value: String(day), label: t(`weekday.${day}`) })),
        ]}
        value={edit.weekday}
        error={fieldMessage(error, 'maintenance_window')}
        onChange={(next) => onChange({ weekday: next ?? '' })}
      />
      <TextInput
        type="time"
        label={t('instance.windowStart')}
        required
        value={edit.start}
        error={fieldMessage(error, 'maintenance_window.start')}
        onChange={(event) => onChange({ start: event.currentTarget.value })}
      />
      <NumberInput
        label={t('instance.windowMinutes')}
        min={15}
        max={1440}
        value={edit.minutes}
        error={fieldMessage(error, 'maintenance_window.minutes')}
        onChange={(minutes) => onChange({ minutes: Number(minutes) })}
      />
    </Group>
  );
}

function EndpointFields({ edit, error, onChange }: FieldsProps) {
  const t = useT();
  const text = (name: 'host' | 'username') => ({
    label: t(`addInstance.${name}`),
    required: true,
    value: edit[name],
    error: fieldMessage(error, name),
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
          value={edit.port}
          error={fieldMessage(error, 'port')}
          onChange={(port) => onChange({ port: Number(port) })}
        />
      </Group>
      <TextInput {...text('username')} autoComplete="off" />
      <PasswordInput
        label={t('access.newPassword')}
        description={t('access.newPasswordHint')}
        size="xs"
        autoComplete="new-password"
        value={edit.password}
        error={fieldMessage(error, 'password')}
        onChange={(event) => onChange({ password: event.currentTarget.value })}
      />
      <Switch
        label={t('addInstance.tls')}
        checked={edit.isTlsRequired}
        onChange={(event) => onChange({ isTlsRequired: event.currentTarget.checked })}
      />
    </>
  );
}
