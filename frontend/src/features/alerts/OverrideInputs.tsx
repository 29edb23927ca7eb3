import { NumberInput, Switch } from '@mantine/core';
import { useT } from '@/lib/i18n/context';
import type { OverrideDraft } from './ruleDraft';

interface OverrideInputsProps {
  override: OverrideDraft;
  /** The rule's own threshold, shown while the override has none. */
  threshold: number;
  /** True in a row of several inputs, where the labels are only for screen readers. */
  isInRow?: boolean;
  onChange: (next: Partial<OverrideDraft>) => void;
}

/** The inputs for the override of one instance: another threshold than the rule's, or exempt from the rule. */
export function OverrideInputs({ override, threshold, isInRow, onChange }: OverrideInputsProps) {
  const t = useT();
  const label = t('rules.ownThreshold');
  return (
    <>
      <NumberInput
        {...(isInRow
          ? { 'aria-label': label }
          : { label, description: t('rules.ownThresholdHint', { threshold }), 'data-autofocus': true })}
        placeholder={String(threshold)}
        disabled={override.isExempt}
        value={override.threshold}
        onChange={(next) => onChange({ threshold: next === '' ? '' : Number(next) })}
      />
      <Switch
        size={isInRow ? 'xs' : undefined}
        label={t(isInRow ? 'rules.exempt' : 'rules.exemptThis')}
        description={isInRow ? undefined : t('rules.exemptHint')}
        checked={override.isExempt}
        onChange={(event) => onChange({ isExempt: event.currentTarget.checked })}
      />
    </>
  );
}
