// The form of an alert rule. Times are minutes for people and seconds for the API. Pure.
import { readTags, writeTags } from '@/lib/tags';
import type { AlertRule, RuleRequest } from './api';

/** A rule's exception for one instance as edited: another threshold, or (`isExempt`) no alerts at all. */
export interface OverrideDraft {
  instanceId: string | undefined;
  /** The instance's threshold. Empty means the rule's own. */
  threshold: number | '';
  isExempt: boolean;
}

export const newOverride: OverrideDraft = { instanceId: undefined, threshold: '', isExempt: false };

export interface RuleDraft {
  name: string;
  metric: string;
  comparison: AlertRule['comparison'];
  threshold: number;
  forMinutes: number;
  minimumTraffic: number;
  reminderHours: number;
  severity: AlertRule['severity'];
  scope: AlertRule['scope'];
  tags: string;
  instanceId: string | undefined;
  recipients: string;
  overrides: OverrideDraft[];
  isEnabled: boolean;
}

export const newRule: RuleDraft = {
  name: '',
  metric: 'hit_ratio',
  comparison: 'lt',
  threshold: 20,
  forMinutes: 10,
  minimumTraffic: 1,
  reminderHours: 4,
  severity: 'warning',
  scope: 'all',
  tags: '',
  instanceId: undefined,
  recipients: '',
  overrides: [],
  isEnabled: true,
};

export function ruleDraftOf(rule: AlertRule): RuleDraft {
  return {
    name: rule.name,
    metric: rule.metric,
    comparison: rule.comparison,
    threshold: rule.threshold,
    forMinutes: rule.for_seconds / 60,
    minimumTraffic: rule.minimum_traffic,
    reminderHours: rule.reminder_seconds / 3600,
    severity: rule.severity,
    scope: rule.scope,
    tags: writeTags(rule.tags),
    instanceId: rule.instance_id ?? undefined,
    recipients: rule.recipients.join(', '),
    overrides: rule.overrides.map(overrideDraftOf),
    isEnabled: rule.is_enabled,
  };
}

export function overrideDraftOf(override: AlertRule['overrides'][number]): OverrideDraft {
  const { instance_id, threshold, is_exempt } = override;
  return { instanceId: instance_id, threshold: threshold ?? '', isExempt: is_exempt ?? false };
}

/** The override for the request, in a list. An empty list if no instance is selected, or if it overrides nothing. */
export function overrideOf({
  instanceId,
  threshold,
  isExempt,
}: OverrideDraft): NonNullable<RuleRequest['overrides']> {
  if (!instanceId || (threshold === '' && !isExempt)) return [];
  return [
    {
      instance_id: instanceId,
      threshold: isExempt || threshold === '' ? null : threshold,
      is_exempt: isExempt,
    },
  ];
}

function words(text: string): string[] {
  return text.split(/[\s,]+/).filter(Boolean);
}

/**
 * The request that stores the rule. `rule` is the stored one, absent for a new rule: it gives the description, which
 * the form does not show.
 */
export function ruleRequest(draft: RuleDraft, rule?: AlertRule): RuleRequest {
  return {
    name: draft.name,
    description: rule?.description ?? '',
    metric: draft.metric as RuleRequest['metric'],
    comparison: draft.comparison,
    threshold: draft.threshold,
    for_seconds: Math.round(draft.forMinutes * 60),
    minimum_traffic: draft.minimumTraffic,
    reminder_seconds: Math.round(draft.reminderHours * 3600),
    severity: draft.severity,
    scope: draft.scope,
    tags: draft.scope === 'tags' ? (readTags(draft.tags) ?? {}) : {},
    instance_id: draft.scope === 'instance' ? (draft.instanceId ?? null) : null,
    recipients: words(draft.recipients),
    overrides: draft.scope === 'instance' ? [] : draft.overrides.flatMap(overrideOf),
    is_enabled: draft.isEnabled,
  };
}
