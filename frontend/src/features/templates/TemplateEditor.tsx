import { ActionIcon, Autocomplete, Button, Group, Stack, TextInput } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { useState, type FormEvent } from 'react';
import { fieldMessage } from '@/api/errors';
import { ErrorPanel } from '@/components/ErrorPanel';
import { IconPlus, IconTrash } from '@/components/icons';
import { Panel } from '@/components/Panel';
import { useT } from '@/lib/i18n/context';
import { parameterNamesQuery, useTemplateEdit, type TemplateDetail } from './api';
import { repeatedName, rowsOf, valuesOf, type ValueRow } from './valueRows';
import classes from './templates.module.css';

export function TemplateEditor({ template, onClose }: { template: TemplateDetail; onClose: () => void }) {
  const t = useT();
  const edit = useTemplateEdit(template);
  const { data: catalogue = [] } = useQuery(parameterNamesQuery(template.engine_line));
  const [name, setName] = useState(template.name);
  const [description, setDescription] = useState(template.description);
  const [note, setNote] = useState('');
  const [rows, setRows] = useState(() => rowsOf(template.values));
  const repeated = repeatedName(rows);
  const change = (key: number, next: Partial<ValueRow>) =>
    setRows((old) => old.map((row) => (row.key === key ? { ...row, ...next } : row)));
  const submit = (event: FormEvent) => {
    event.preventDefault();
    edit.mutate({ name, description, values: valuesOf(rows), note }, { onSuccess: onClose });
  };
  return (
    <Panel title={t('templates.editing', { name: template.name })}>
      <form onSubmit={submit}>
        <Stack gap="sm">
          {edit.isError && <ErrorPanel error={edit.error} />}
          <TextInput
            label={t('templates.name')}
            required
            value={name}
            error={fieldMessage(edit.error, 'name')}
            onChange={(event) => setName(event.currentTarget.value)}
          />
          <TextInput
            label={t('templates.about')}
            value={description}
            onChange={(event) => setDescription(event.currentTarget.value)}
          />
          {rows.map((row) => (
            <div key={row.key} className={classes.row}>
              <Autocomplete
                size="xs"
                aria-label={t('parameters.name')}
                placeholder={t('parameters.name')}
                data={catalogue.filter((item) => item.is_modifiable).map((item) => item.name)}
                limit={20}
                value={row.name}
                error={row.name !== '' && row.name === repeated && t('templates.repeated')}
                onChange={(next) => change(row.key, { name: next })}
                classNames={{ input: classes.mono }}
              />
              <TextInput
                aria-label={t('templates.valueOf', { name: row.name })}
                placeholder={t('parameters.value')}
                value={row.value}
                error={fieldMessage(edit.error, `values.${row.name}`)}
                onChange={(event) => change(row.key, { value: event.currentTarget.value })}
                classNames={{ input: classes.mono }}
              />
              <ActionIcon
                variant="subtle"
                color="gray"
                aria-label={t('templates.removeRow', { name: row.name })}
                onClick={() => setRows((old) => old.filter(({ key }) => key !== row.key))}
              >
                <IconTrash size={15} />
              </ActionIcon>
            </div>
          ))}
          <Button
            variant="subtle"
            leftSection={<IconPlus size={14} />}
            onClick={() =>
              setRows((old) => [
                ...old,
                { key: Math.max(0, ...old.map(({ key }) => key)) + 1, name: '', value: '' },
              ])
            }
          >
            {t('templates.addRow')}
          </Button>
          <TextInput
            label={t('change.note')}
            placeholder={t('review.notePlaceholder')}
            value={note}
            onChange={(event) => setNote(event.currentTarget.value)}
          />
          <Group justify="flex-end" gap="xs">
            <Button variant="default" onClick={onClose}>
              {t('action.cancel')}
            </Button>
            <Button type="submit" loading={edit.isPending} disabled={repeated !== undefined}>
              {t('templates.saveVersion')}
            </Button>
          </Group>
        </Stack>
      </form>
    </Panel>
  );
}
