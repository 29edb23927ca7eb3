import { SegmentedControl, Select, TextInput } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { useFieldMessage } from '@/components/useFieldMessage';
import { EndpointFields } from '@/components/EndpointFields';
import { FormModal } from '@/components/FormModal';
import { TagsField } from '@/components/TagsField';
import { formatBytes } from '@/lib/bytes';
import { useT } from '@/lib/i18n/context';
import { readTags } from '@/lib/tags';
import { useKept } from '@/lib/useKept';
import { classesQuery, useInstanceAdd } from './api';
import { emptyDraft, requestOf, type InstanceDraft } from './instanceDraft';

export function AddInstance({ onClose }: { onClose: () => void }) {
  const t = useT();
  const said = useFieldMessage();
  const navigate = useNavigate();
  const { data: classList = [], isError: hasNoChoices } = useQuery(classesQuery);
  const [draft, setDraft, forget, startOver] = useKept('instance', () => emptyDraft, [
    'password',
    'trialPassword',
  ]);
  const set = (next: Partial<InstanceDraft>) => setDraft((old) => ({ ...old, ...next }));
  const add = useInstanceAdd(({ id }) => {
    forget();
    void navigate({ to: '/instances/$instanceId', params: { instanceId: id } });
  });
  return (
    <FormModal
      title={t('addInstance.title')}
      submit={t('addInstance.submit')}
      mutation={add}
      isDisabled={!draft.instanceClass || !readTags(draft.tags)}
      onStartOver={startOver}
      onSubmit={() => add.mutate(requestOf(draft))}
      onCancel={() => {
        forget();
        onClose();
      }}
      onClose={onClose}
    >
      <SegmentedControl
        size="xs"
        fullWidth
        aria-label={t('addInstance.provider')}
        value={draft.provider}
        onChange={(provider) => set({ provider })}
        data={[
          { value: 'external', label: t('addInstance.external') },
          { value: 'local', label: t('addInstance.local') },
        ]}
      />
      <TextInput
        label={t('addInstance.name')}
        required
        data-autofocus
        value={draft.name}
        error={said(add.error, 'name')}
        onChange={(event) => set({ name: event.currentTarget.value })}
      />
      {draft.provider === 'local' && (
        <Select
          label={t('addInstance.product')}
          allowDeselect={false}
          data={['MariaDB', 'MySQL']}
          value={draft.product}
          error={said(add.error, 'product')}
          onChange={(product) => set({ product: product ?? draft.product })}
        />
      )}
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
        error={hasNoChoices ? t('error.choices') : said(add.error, 'instance_class')}
      />
      {draft.provider === 'external' && <EndpointFields endpoint={draft} error={add.error} onChange={set} />}
      <TagsField value={draft.tags} error={add.error} onChange={(tags) => set({ tags })} />
    </FormModal>
  );
}
