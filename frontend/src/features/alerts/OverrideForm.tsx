import { useState } from 'react';
import type { Instance } from '@/api/instances';
import { FormModal } from '@/components/FormModal';
import { useT, useApiText } from '@/lib/i18n/context';
import { useRuleSave, type AlertRule } from './api';
import { OverrideInputs } from './OverrideInputs';
import { newOverride, overrideDraftOf, ruleDraftOf, ruleRequest, type OverrideDraft } from './ruleDraft';
import { RulePreview } from './RulePreview';
import { overrideFor, ruleName } from './ruleText';

interface OverrideFormProps {
  rule: AlertRule;
  instance: Instance;
  onClose: () => void;
}

/** The dialog that edits a rule's override for one instance. The rest of the rule stays, and so do other overrides. */
export function OverrideForm({ rule, instance, onClose }: OverrideFormProps) {
  const t = useT();
  const apiText = useApiText();
  const save = useRuleSave(rule);
  const present = overrideFor(rule, instance.id);
  const [override, setOverride] = useState<OverrideDraft>(() =>
    present ? overrideDraftOf(present) : { ...newOverride, instanceId: instance.id },
  );
  const draft = ruleDraftOf(rule);
  const others = draft.overrides.filter(({ instanceId }) => instanceId !== instance.id);
  const request = ruleRequest({ ...draft, overrides: [...others, override] }, rule);
  return (
    <FormModal
      title={t('rules.overrideTitle', { rule: ruleName(rule.name, apiText), name: instance.name })}
      submit={t('action.save')}
      mutation={save}
      onSubmit={() => save.mutate(request, { onSuccess: onClose })}
      onClose={onClose}
    >
      <OverrideInputs
        override={override}
        threshold={rule.threshold}
        onChange={(next) => setOverride((old) => ({ ...old, ...next }))}
      />
      <RulePreview request={request} instance={instance.id} />
    </FormModal>
  );
}
