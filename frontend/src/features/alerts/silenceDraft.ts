// The form of a silence. Pure.
import type { components } from '@/api/schema.gen';
import { readTags } from '@/lib/tags';

export interface SilenceDraft {
  reason: string;
  /** The id of the silenced rule. Null means every rule. */
  ruleId: string | null;
  /** The id of the silenced instance. Undefined means every instance. */
  instanceId: string | undefined;
  tags: string;
  durationSeconds: number;
}

export const newSilence: SilenceDraft = {
  reason: '',
  ruleId: null,
  instanceId: undefined,
  tags: '',
  durationSeconds: 3600,
};

export function silenceRequest(draft: SilenceDraft): components['schemas']['SilenceCreateRequest'] {
  return {
    reason: draft.reason,
    rule_id: draft.ruleId,
    instance_id: draft.instanceId ?? null,
    tags: readTags(draft.tags) ?? {},
    duration_seconds: draft.durationSeconds,
  };
}
