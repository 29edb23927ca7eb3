import { Select, TextInput } from '@mantine/core';
import { useFieldMessage } from '@/components/useFieldMessage';
import { FormModal } from '@/components/FormModal';
import { InstanceSelect } from '@/components/InstanceSelect';
import { TagsField } from '@/components/TagsField';
import { useT, useApiText } from '@/lib/i18n/context';
import { formatDuration } from '@/lib/number';
import { readTags } from '@/lib/tags';
import { useStoredForm } from '@/lib/useStoredForm';
import { useSilenceCreate, type AlertRule } from './api';
import { ruleName } from './ruleText';
import { newSilence, silenceRequest, type SilenceDraft } from './silenceDraft';

const DURATIONS_SECONDS = [3600, 4 * 3600, 12 * 3600, 86400, 7 * 86400];

interface SilenceFormProps {
  rules: Pick<AlertRule, 'id' | 'name'>[];
  /** The rule or instance that is selected when the form opens. */
  covers?: Pick<SilenceDraft, 'ruleId' | 'instanceId'>;
  onClose: () => void;
}

export function SilenceForm({ rules, covers, onClose }: SilenceFormProps) {
  const t = useT();
  const apiText = useApiText();
  const said = useFieldMessage();
  const create = useSilenceCreate();
  const [draft, setDraft, forget, startOver] = useStoredForm(
    covers ? `silence.${covers.ruleId ?? ''}.${covers.instanceId ?? ''}` : 'silence',
    () => ({ ...newSilence, ...covers }),
  );
  const set = (next: Partial<SilenceDraft>) => setDraft((old) => ({ ...old, ...next }));
  const done = () => {
    forget();
    onClose();
  };
  return (
    <FormModal
      title={t('silences.new')}
      submit={t('action.create')}
      mutation={create}
      isDisabled={!readTags(draft.tags)}
      onStartOver={startOver}
      onSubmit={() => create.mutate(silenceRequest(draft), { onSuccess: done })}
      onCancel={done}
      onClose={onClose}
    >
      <TextInput
        label={t('silences.reason')}
        required
        data-autofocus
        value={draft.reason}
        error={said(create.error, 'reason')}
        onChange={(event) => set({ reason: event.currentTarget.value })}
      />
      <Select
        label={t('incidents.rule')}
        placeholder={t('silences.everyRule')}
        clearable
        data={rules.map(({ id, name }) => ({ value: id, label: ruleName(name, apiText) }))}
        value={draft.ruleId}
        error={said(create.error, 'rule_id')}
        onChange={(ruleId) => set({ ruleId })}
      />
      <InstanceSelect
        label={t('rules.instance')}
        placeholder={t('silences.everyInstance')}
        value={draft.instanceId}
        error={said(create.error, 'instance_id')}
        onChange={(instanceId) => set({ instanceId })}
      />
      <TagsField value={draft.tags} error={create.error} onChange={(tags) => set({ tags })} />
      <Select
        label={t('silences.duration')}
        data={DURATIONS_SECONDS.map((seconds) => ({
          value: String(seconds),
          label: formatDuration(seconds, t),
        }))}
        value={String(draft.durationSeconds)}
        error={said(create.error, 'duration_seconds')}
        onChange={(next) => set({ durationSeconds: Number(next) })}
      />
    </FormModal>
  );
}
