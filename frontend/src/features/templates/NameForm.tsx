import { Select, TextInput } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { useState } from 'react';
import { useFieldMessage } from '@/components/useFieldMessage';
import { FormModal } from '@/components/FormModal';
import { useT } from '@/lib/i18n/context';
import { linesQuery, usualLineQuery, useTemplateClone, useTemplateCreate, type Template } from './api';

/** The dialog that names a new template: a copy of `source`, or an empty template if there is none. */
export function NameForm({ source, onClose }: { source?: Template; onClose: () => void }) {
  const t = useT();
  const said = useFieldMessage();
  const navigate = useNavigate();
  const create = useTemplateCreate();
  const clone = useTemplateClone(source?.id ?? '');
  const mutation = source ? clone : create;
  const [name, setName] = useState(source ? `${source.name}-copy` : '');
  const [description, setDescription] = useState(source?.description ?? '');
  const { data: lines = [] } = useQuery(linesQuery);
  const { data: usual } = useQuery(usualLineQuery);
  const [line, setLine] = useState<string>();
  const submit = () => {
    const done = {
      onSuccess: (template: Template) =>
        void navigate({ to: '/templates/$templateId', params: { templateId: template.id } }).then(
          // A new template leads to another page, which closes this form. A copy is opened on the same page.
          () => source && onClose(),
        ),
    };
    if (source) clone.mutate({ name, description }, done);
    else create.mutate({ name, description, engine_line: line ?? usual, note: '' }, done);
  };
  return (
    <FormModal
      title={source ? t('templates.cloneOf', { name: source.name }) : t('templates.new')}
      submit={t('action.create')}
      mutation={mutation}
      onSubmit={submit}
      onClose={onClose}
    >
      <TextInput
        label={t('templates.name')}
        required
        data-autofocus
        value={name}
        error={said(mutation.error, 'name')}
        onChange={(event) => setName(event.currentTarget.value)}
      />
      <TextInput
        label={t('templates.about')}
        value={description}
        onChange={(event) => setDescription(event.currentTarget.value)}
      />
      {!source && (
        <Select
          label={t('templates.line')}
          description={t('templates.lineHint')}
          allowDeselect={false}
          data={lines.map(({ id, product, version }) => ({ value: id, label: `${product} ${version}` }))}
          value={line ?? usual ?? null}
          onChange={(next) => setLine(next ?? undefined)}
        />
      )}
    </FormModal>
  );
}
