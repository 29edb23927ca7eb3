import { NumberInput, Select, SimpleGrid, Switch, TextInput } from '@mantine/core';
import { useFieldMessage } from '@/components/useFieldMessage';
import type { Instance } from '@/api/instances';
import { EndpointFields } from '@/components/EndpointFields';
import { FormModal } from '@/components/FormModal';
import { TagsField } from '@/components/TagsField';
import { useCan } from '@/api/session';
import { useT } from '@/lib/i18n/context';
import { readTags } from '@/lib/tags';
import { useStoredForm } from '@/lib/useStoredForm';
import { useInstanceUpdate } from './api';
import { editOf, isMoved, patchOf, type InstanceEdit } from './instanceEdit';

const WEEKDAYS = [0, 1, 2, 3, 4, 5, 6] as const;

/**
 * The dialog that edits what the control plane stores about an instance, such as its address. Nothing on the server
 * changes.
 */
export function EditInstance({ instance, onClose }: { instance: Instance; onClose: () => void }) {
  const t = useT();
  const said = useFieldMessage();
  const update = useInstanceUpdate(instance);
  const isAdmin = useCan('admin');
  const [edit, setEdit, forget, startOver] = useStoredForm(
    `instance.${instance.id}.${instance.version}`,
    () => editOf(instance),
    ['password', 'trialPassword'],
  );
  const set = (next: Partial<InstanceEdit>) => setEdit((old) => ({ ...old, ...next }));
  const patch = patchOf(edit, instance);
  const done = () => {
    forget();
    onClose();
  };
  return (
    <FormModal
      title={t('instance.editTitle', { name: instance.name })}
      submit={t('action.save')}
      mutation={update}
      isDisabled={Object.keys(patch).length === 0 || !readTags(edit.tags)}
      onStartOver={startOver}
      onSubmit={() => update.mutate(patch, { onSuccess: done })}
      onCancel={done}
      onClose={onClose}
    >
      <TextInput
        label={t('addInstance.name')}
        required
        data-autofocus
        value={edit.name}
        error={said(update.error, 'name')}
        onChange={(event) => set({ name: event.currentTarget.value })}
      />
      <TagsField value={edit.tags} error={update.error} onChange={(tags) => set({ tags })} />
      <WindowFields edit={edit} error={update.error} onChange={set} />
      {instance.provider === 'external' && (
        <EndpointFields
          endpoint={edit}
          stored={{ isPasswordDue: isMoved(edit, instance) }}
          error={update.error}
          onChange={set}
        />
      )}
      {instance.provider === 'external' && isAdmin && (
        <Switch
          label={t('instance.catalogueSource')}
          description={t('instance.catalogueSourceHint')}
          checked={edit.isCatalogueSource}
          error={said(update.error, 'is_catalogue_source')}
          onChange={(event) => set({ isCatalogueSource: event.currentTarget.checked })}
        />
      )}
    </FormModal>
  );
}

interface WindowFieldsProps {
  edit: InstanceEdit;
  error: unknown;
  onChange: (next: Partial<InstanceEdit>) => void;
}

function WindowFields({ edit, error, onChange }: WindowFieldsProps) {
  const t = useT();
  const said = useFieldMessage();
  return (
    <SimpleGrid cols={{ base: 1, xs: 3 }} spacing="sm">
      <Select
        label={t('instance.maintenance')}
        data={[
          { value: '', label: t('instance.everyDay') },
          ...WEEKDAYS.map((day) => ({ value: String(day), label: t(`weekday.${day}`) })),
        ]}
        value={edit.weekday}
        error={said(error, 'maintenance_window')}
        onChange={(next) => onChange({ weekday: next ?? '' })}
      />
      <TextInput
        type="time"
        label={t('instance.windowStart')}
        required
        value={edit.start}
        error={said(error, 'maintenance_window.start')}
        onChange={(event) => onChange({ start: event.currentTarget.value })}
      />
      <NumberInput
        label={t('instance.windowMinutes')}
        min={15}
        max={1440}
        value={edit.minutes}
        error={said(error, 'maintenance_window.minutes')}
        onChange={(minutes) => onChange({ minutes: Number(minutes) })}
      />
    </SimpleGrid>
  );
}
