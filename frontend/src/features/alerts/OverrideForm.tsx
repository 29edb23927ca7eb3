import { Button, Group, Modal, NumberInput, Stack, Switch } from '@mantine/core';
import { useState, type FormEvent } from 'react';
import type { Instance } from '@/api/instances';
import { ErrorPanel } from '@/components/ErrorPanel';
import { useT } from '@/lib/i18n/context';
import { useRuleSave, type AlertRule } from './api';
import { newOverride, overrideDraftOf, ruleDraftOf, ruleRequest, type OverrideDraft } from './ruleDraft';
import { RulePreview } from './RulePreview';
import { overrideFor } from './ruleText';

interface OverrideFormProps {
  rule: AlertRule;
  instance: Instance;
  onClose: () => void;
}

/** What a rule of many judges this one instance by. The rule itself stays as it is. */
export function OverrideForm({ rule, instance, onClose }: OverrideFormProps) {
  const t = useT();
  const save = useRuleSave(rule);
  const present = overrideFor(rule, instance.id);
  const [override, setOverride] = useState<OverrideDraft>(() =>
    present ? overrideDraftOf(present) : { ...newOverride, instanceId: instance.id },
  );
  const draft = ruleDraftOf(rule);
  const others = draft.overrides.filter(({ instanceId }) => instanceId !== instance.id);
  const request = ruleRequest({ ...draft, overrides: [...others, override] }, rule);
  const change = (next: Partial<OverrideDraft>) => setOverride((old) => ({ ...old, ...next }));
  const submit = (event: FormEvent) => {
    event.preventDefault();
    save.mutate(request, { onSuccess: onClose });
  };
  return (
    <Modal
      opened
      onClose={onClose}
      title={t('rules.overrideTitle', { rule: rule.name, name: instance.name })}
    >
      <form onSubmit={submit}>
        <Stack gap="sm">
          {save.isError && <ErrorPanel error={save.error} />}
          <NumberInput
            label={t('rules.ownThreshold')}
            description={t('rules.ownThresholdHint', { threshold: rule.threshold })}
            data-autofocus
            disabled={override.isExempt}
            value={override.threshold}
            onChange={(next) => change({ threshold: next === '' ? '' : Number(next) })}
          />
          <Switch
            label={t('rules.exempt')}
            description={t('rules.exemptHint')}
            checked={override.isExempt}
            onChange={(event) => change({ isExempt: event.currentTarget.checked })}
          />
          <RulePreview request={request} instance={instance.id} />
          <Group justify="flex-end" gap="xs">
            <Button variant="default" onClick={onClose}>
              {t('action.cancel')}
            </Button>
            <Button type="submit" loading={save.isPending}>
              {t('action.save')}
            </Button>
          </Group>
        </Stack>
      </form>
    </Modal>
  );
}
