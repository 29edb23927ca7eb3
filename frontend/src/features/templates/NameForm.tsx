import { Button, Group, Modal, Stack, TextInput } from '@mantine/core';
import { useNavigate } from '@tanstack/react-router';
import { useState, type FormEvent } from 'react';
import { fieldMessage } from '@/api/errors';
import { ErrorPanel } from '@/components/ErrorPanel';
import { useT } from '@/lib/i18n/context';
import { useTemplateClone, useTemplateCreate, type Template } from './api';

/** Names a new template: empty, or a copy of another one. */
export function NameForm({ source, onClose }: { source?: Template; onClose: () => void }) {
  const t = useT();
  const navigate = useNavigate();
  const create = useTemplateCreate();
  const clone = useTemplateClone(source?.id ?? '');
  const mutation = source ? clone : create;
  const [name, setName] = useState(source ? `${source.name}-copy` : '');
  const [description, setDescription] = useState(source?.description ?? '');
  const submit = (event: FormEvent) => {
    event.preventDefault();
    const done = {
      onSuccess: (template: Template) =>
        void navigate({ to: '/templates/$templateId', params: { templateId: template.id } }).then(onClose),
    };
    if (source) clone.mutate({ name, description }, done);
    else create.mutate({ name, description, engine_line: '5.7', note: '' }, done);
  };
  return (
    <Modal
      opened
      onClose={onClose}
      title={source ? t('templates.cloneOf', { name: source.name }) : t('templates.new')}
    >
      <form onSubmit={submit}>
        <Stack gap="sm">
          {mutation.isError && <ErrorPanel error={mutation.error} />}
          <TextInput
            label={t('templates.name')}
            required
            data-autofocus
            value={name}
            error={fieldMessage(mutation.error, 'name')}
            onChange={(event) => setName(event.currentTarget.value)}
          />
          <TextInput
            label={t('templates.about')}
            value={description}
            onChange={(event) => setDescription(event.currentTarget.value)}
          />
          <Group justify="flex-end" gap="xs">
            <Button variant="default" onClick={onClose}>
              {t('action.cancel')}
            </Button>
            <Button type="submit" loading={mutation.isPending}>
              {t('action.create')}
            </Button>
          </Group>
        </Stack>
      </form>
    </Modal>
  );
}
