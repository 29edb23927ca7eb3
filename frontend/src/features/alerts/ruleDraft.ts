// The form of an alert rule. Times are minutes for people and seconds for the API. Pure.
import type { AlertRule, RuleRequest } from './api';

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
  instanceId: string;
  recipients: string;
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
  instanceId: '',
  recipients: '',
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
    tags: Object.entries(rule.tags)
      .map(([name, value]) => `${name}:${value}`)
      .join(', '),
    instanceId: rule.instance_id ?? '',
    recipients: rule.recipients.join(', '),
    isEnabled: rule.is_enabled,
  };
}

function words(text: string): string[] {
  return text.split(/[\s,]+/).filter(Boolean);
}

function tagsOf(text: string): Record<string, string> {
  return Object.fromEntries(
    words(text).map((word) => [word.split(':')[0] ?? '', word.slice(word.indexOf(':') + 1)] as const),
  );
}

/** What the form does not show (description, overrides) is kept as it was. */
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
    tags: draft.scope === 'tags' ? tagsOf(draft.tags) : {},
    instance_id: draft.scope === 'instance' ? draft.instanceId : null,
    recipients: words(draft.recipients),
    overrides: rule?.overrides ?? [],
    is_enabled: draft.isEnabled,
  };
}
