import { Select } from '@mantine/core';
import { useFieldMessage } from '@/components/useFieldMessage';
import { InstanceSelect } from '@/components/InstanceSelect';
import { TagsField } from '@/components/TagsField';
import { useT } from '@/lib/i18n/context';
import type { RuleDraft } from './ruleDraft';

const SCOPES = ['all', 'tags', 'instance'] as const;

interface ScopeFieldsProps {
  draft: RuleDraft;
  error: unknown;
  onChange: (next: Partial<RuleDraft>) => void;
}

/** The inputs for which instances a rule watches: all, those with certain tags, or one. */
export function ScopeFields({ draft, error, onChange }: ScopeFieldsProps) {
  const t = useT();
  const said = useFieldMessage();
  return (
    <>
      <Select
        label={t('rules.scope')}
        data={SCOPES.map((value) => ({ value, label: t(`rules.scope.${value}`) }))}
        value={draft.scope}
        onChange={(next) => onChange({ scope: SCOPES.find((value) => value === next) })}
      />
      {draft.scope === 'tags' && (
        <TagsField value={draft.tags} error={error} onChange={(tags) => onChange({ tags })} />
      )}
      {draft.scope === 'instance' && (
        <InstanceSelect
          label={t('rules.instance')}
          required
          value={draft.instanceId}
          error={said(error, 'instance_id')}
          onChange={(instanceId) => onChange({ instanceId })}
        />
      )}
    </>
  );
}
