import { ActionIcon, Button } from '@mantine/core';
import { InstanceSelect } from '@/components/InstanceSelect';
import { IconPlus, IconTrash } from '@/components/icons';
import { useT } from '@/lib/i18n/context';
import { OverrideInputs } from './OverrideInputs';
import { newOverride, type OverrideDraft } from './ruleDraft';
import classes from './alerts.module.css';

interface OverrideFieldsProps {
  overrides: OverrideDraft[];
  /** The rule's own threshold, shown where an override has none. */
  threshold: number;
  onChange: (overrides: OverrideDraft[]) => void;
}

/**
 * The overrides of a rule: instances with another threshold, or that are exempt from the rule. `onChange` gets the
 * whole new list.
 */
export function OverrideFields({ overrides, threshold, onChange }: OverrideFieldsProps) {
  const t = useT();
  const taken = overrides.flatMap(({ instanceId }) => instanceId ?? []);
  const change = (index: number, next: Partial<OverrideDraft>) =>
    onChange(overrides.map((old, at) => (at === index ? { ...old, ...next } : old)));
  return (
    <fieldset className={classes.overrides}>
      <legend>{t('rules.overrides')}</legend>
      {overrides.map((override, index) => (
        <div key={index} className={classes.override}>
          <InstanceSelect
            aria-label={t('rules.instance')}
            except={taken}
            value={override.instanceId}
            onChange={(instanceId) => change(index, { instanceId })}
          />
          <OverrideInputs
            isInRow
            override={override}
            threshold={threshold}
            onChange={(next) => change(index, next)}
          />
          <ActionIcon
            variant="subtle"
            color="gray"
            aria-label={t('rules.removeOverride')}
            onClick={() => onChange(overrides.filter((_, at) => at !== index))}
          >
            <IconTrash size={15} />
          </ActionIcon>
        </div>
      ))}
      <Button
        variant="subtle"
        size="compact-xs"
        leftSection={<IconPlus size={14} />}
        onClick={() => onChange([...overrides, newOverride])}
      >
        {t('rules.addOverride')}
      </Button>
    </fieldset>
  );
}
