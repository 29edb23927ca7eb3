import { ActionIcon, Autocomplete, Button, Group, Stack, TextInput } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import type { FormEvent } from 'react';
import { useFieldMessage } from '@/components/useFieldMessage';
import { ErrorPanel } from '@/components/ErrorPanel';
import { RestoredNotice } from '@/components/RestoredNotice';
import { IconPlus, IconTrash } from '@/components/icons';
import { Panel } from '@/components/Panel';
import { useT } from '@/lib/i18n/context';
import { useStoredForm } from '@/lib/useStoredForm';
import { parameterNamesQuery, useTemplateEdit, type TemplateDetail } from './api';
import { repeatedName, rowsOf, valuesOf, type ValueRow } from './valueRows';
import classes from './templates.module.css';

export function TemplateEditor({ template, onClose }: { template: TemplateDetail; onClose: () => void }) {
  const t = useT();
  const said = useFieldMessage();
  const edit = useTemplateEdit(template);
  const { data: catalogue = [] } = useQuery(parameterNamesQuery(template.engine_line));
  const [draft, setDraft, forget, startOver] = useStoredForm(
    `template.${template.id}.${template.version}`,
    () => ({
      name: template.name,
      description: template.description,
      note: '',
      rows: rowsOf(template.values),
    }),
  );
  const { name, description, note, rows } = draft;
  const set = (next: Partial<typeof draft>) => setDraft((old) => ({ ...old, ...next }));
  const setRows = (next: (old: ValueRow[]) => ValueRow[]) =>
    setDraft((old) => ({ ...old, rows: next(old.rows) }));
  const close = () => {
    forget();
    onClose();
  };
  const repeated = repeatedName(rows);
  const change = (key: number, next: Partial<ValueRow>) =>
    setRows((old) => old.map((row) => (row.key === key ? { ...row, ...next } : row)));
  const submit = (event: FormEvent) => {
    event.preventDefault();
    edit.mutate({ name, description, values: valuesOf(rows), note }, { onSuccess: close });
  };
  return (
    <Panel title={t('templates.editing', { name: template.name })}>
      <form onSubmit={submit}>
        <Stack gap="sm">
          <RestoredNotice onStartOver={startOver} />
          <TextInput
            label={t('templates.name')}
            required
            value={name}
            error={said(edit.error, 'name')}
            onChange={(event) => set({ name: event.currentTarget.value })}
          />
          <TextInput
            label={t('templates.about')}
            value={description}
            onChange={(event) => set({ description: event.currentTarget.value })}
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
                error={said(edit.error, `values.${row.name}`)}
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
            onChange={(event) => set({ note: event.currentTarget.value })}
          />
          {edit.isError && <ErrorPanel error={edit.error} />}
          <Group justify="flex-end" gap="xs">
            <Button variant="default" onClick={close}>
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
