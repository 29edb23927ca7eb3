import { NumberInput, Select, SimpleGrid, Switch, TextInput } from '@mantine/core';
import { useFieldMessage } from '@/components/useFieldMessage';
import { FormModal } from '@/components/FormModal';
import { useT, useApiText } from '@/lib/i18n/context';
import { readTags } from '@/lib/tags';
import { useStoredForm } from '@/lib/useStoredForm';
import { useRuleSave, type AlertRule, type Metric } from './api';
import { OverrideFields } from './OverrideFields';
import { newRule, ruleDraftOf, ruleRequest, type RuleDraft } from './ruleDraft';
import { RulePreview } from './RulePreview';
import { ruleName } from './ruleText';
import { ScopeFields } from './ScopeFields';
import classes from './alerts.module.css';

const COMPARISONS = ['lt', 'le', 'gt', 'ge'] as const;
const SEVERITIES = ['warning', 'critical'] as const;

interface RuleFormProps {
  rule?: AlertRule;
  metrics: Metric[];
  onClose: () => void;
}

export function RuleForm({ rule, metrics, onClose }: RuleFormProps) {
  const t = useT();
  const said = useFieldMessage();
  const apiText = useApiText();
  const save = useRuleSave(rule);
  const [draft, setDraft, forget, startOver] = useStoredForm(
    rule ? `rule.${rule.id}.${rule.version}` : 'rule',
    () => (rule ? ruleDraftOf(rule) : newRule),
  );
  const set = (next: Partial<RuleDraft>) => setDraft((old) => ({ ...old, ...next }));
  const metric = metrics.find(({ name }) => name === draft.metric);
  const request = ruleRequest(draft, rule);
  const done = () => {
    forget();
    onClose();
  };
  return (
    <FormModal
      title={rule ? t('rules.edit', { name: ruleName(rule.name, apiText) }) : t('rules.new')}
      submit={t('action.save')}
      mutation={save}
      size={620}
      isDisabled={draft.scope === 'tags' && !readTags(draft.tags)}
      onStartOver={startOver}
      onSubmit={() => save.mutate(request, { onSuccess: done })}
      onCancel={done}
      onClose={onClose}
    >
      <TextInput
        label={t('rules.name')}
        required
        data-autofocus
        value={draft.name}
        error={said(save.error, 'name')}
        onChange={(event) => set({ name: event.currentTarget.value })}
      />
      <Select
        label={t('rules.metric')}
        searchable
        data={metrics.map(({ name, title }) => ({ value: name, label: title }))}
        value={draft.metric}
        onChange={(next) => set({ metric: next ?? draft.metric })}
      />
      {metric && (
        <div className={classes.formula}>
          {metric.formula} · {apiText(`unit.${metric.unit}`, metric.unit)}
        </div>
      )}
      <SimpleGrid cols={{ base: 2, xs: 3 }} spacing="sm">
        <Select
          label={t('rules.comparison')}
          data={COMPARISONS.map((value) => ({ value, label: t(`rules.comparison.${value}`) }))}
          value={draft.comparison}
          onChange={(next) => set({ comparison: COMPARISONS.find((value) => value === next) })}
        />
        <NumberInput
          label={t('rules.threshold')}
          value={draft.threshold}
          onChange={(value) => set({ threshold: Number(value) })}
        />
        <NumberInput
          label={t('rules.forMinutes')}
          min={0}
          value={draft.forMinutes}
          onChange={(value) => set({ forMinutes: Number(value) })}
        />
        <NumberInput
          label={t('rules.minimumTraffic')}
          min={0}
          disabled={!metric?.traffic}
          value={draft.minimumTraffic}
          onChange={(value) => set({ minimumTraffic: Number(value) })}
        />
        <NumberInput
          label={t('rules.reminderHours')}
          min={0}
          value={draft.reminderHours}
          onChange={(value) => set({ reminderHours: Number(value) })}
        />
        <Select
          label={t('rules.severity')}
          data={SEVERITIES.map((value) => ({ value, label: t(`rules.severity.${value}`) }))}
          value={draft.severity}
          onChange={(next) => set({ severity: SEVERITIES.find((value) => value === next) })}
        />
      </SimpleGrid>
      <ScopeFields draft={draft} error={save.error} onChange={set} />
      {draft.scope !== 'instance' && (
        <OverrideFields
          overrides={draft.overrides}
          threshold={draft.threshold}
          onChange={(overrides) => set({ overrides })}
        />
      )}
      <TextInput
        label={t('rules.recipients')}
        description={t('rules.recipientsHint')}
        value={draft.recipients}
        error={said(save.error, 'recipients')}
        onChange={(event) => set({ recipients: event.currentTarget.value })}
      />
      <Switch
        label={t('rules.enabled')}
        checked={draft.isEnabled}
        onChange={(event) => set({ isEnabled: event.currentTarget.checked })}
      />
      <RulePreview request={request} />
    </FormModal>
  );
}
