import { NumberInput, Switch } from '@mantine/core';
import { useT } from '@/lib/i18n/context';
import type { OverrideDraft } from './ruleDraft';

interface OverrideInputsProps {
  override: OverrideDraft;
  /** The threshold of the rule itself. */
  threshold: number;
  /** True in a row of several inputs: the labels are then only for screen readers. */
  isInRow?: boolean;
  onChange: (next: Partial<OverrideDraft>) => void;
}

/** The override of one instance: a threshold of its own, or exempt. */
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
