import { Select, TextInput } from '@mantine/core';
import { fieldMessage } from '@/api/errors';
import { InstanceSelect } from '@/components/InstanceSelect';
import { useT } from '@/lib/i18n/context';
import { readTags } from '@/lib/tags';
import type { RuleDraft } from './ruleDraft';

const SCOPES = ['all', 'tags', 'instance'] as const;

interface ScopeFieldsProps {
  draft: RuleDraft;
  error: unknown;
  onChange: (next: Partial<RuleDraft>) => void;
}

/** Which instances a rule watches. */
export function ScopeFields({ draft, error, onChange }: ScopeFieldsProps) {
  const t = useT();
  return (
    <>
      <Select
        label={t('rules.scope')}
        data={SCOPES.map((value) => ({ value, label: t(`rules.scope.${value}`) }))}
        value={draft.scope}
        onChange={(next) => onChange({ scope: SCOPES.find((value) => value === next) })}
      />
      {draft.scope === 'tags' && (
        <TextInput
          label={t('instance.tags')}
          description={t('addInstance.tagsHint')}
          value={draft.tags}
          error={readTags(draft.tags) ? fieldMessage(error, 'tags') : t('addInstance.tagsHint')}
          onChange={(event) => onChange({ tags: event.currentTarget.value })}
        />
      )}
      {draft.scope === 'instance' && (
        <InstanceSelect
          label={t('rules.instance')}
          required
          value={draft.instanceId}
          error={fieldMessage(error, 'instance_id')}
          onChange={(instanceId) => onChange({ instanceId })}
        />
      )}
    </>
  );
}
