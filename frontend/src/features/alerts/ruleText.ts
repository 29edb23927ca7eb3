// A rule as text, and its override for one instance. Pure.
import type { Instance } from '@/api/instances';
import { formatValue, unitOf } from '@/charts/units';
import type { TranslateApiText, Translate } from '@/lib/i18n/context';
import type { AlertRule, Metric } from './api';

export type RuleOverride = AlertRule['overrides'][number];

/** The name of a rule, translated if it still has the name with which it ships. A renamed rule keeps its name. */
export function ruleName(name: string, apiText: TranslateApiText): string {
  return apiText(`alertRule.${name}`, name);
}

/**
 * The condition of a rule as text, such as "Hit ratio below 20 %". `threshold` replaces the rule's own, for an instance
 * with an override.
 */
export function conditionText(
  rule: Pick<AlertRule, 'metric' | 'comparison' | 'threshold'>,
  metrics: Metric[],
  t: Translate,
  threshold = rule.threshold,
): string {
  const metric = metrics.find(({ name }) => name === rule.metric);
  // A state is either present or not, so its title says it all; "above 0" would not be understood.
  if (metric?.kind === 'state' && rule.comparison === 'gt' && threshold === 0) return metric.title;
  const limit = formatValue(threshold, unitOf(metric?.unit ?? 'count'), t);
  return `${metric?.title ?? rule.metric} ${t(`rules.comparison.${rule.comparison}`)} ${limit}`;
}

export function formulaText(rule: AlertRule, metrics: Metric[]): string {
  return metrics.find(({ name }) => name === rule.metric)?.formula ?? rule.formula;
}

/** True if the rule watches this instance by its scope. An exempt instance counts, too. */
export function isAbout(rule: AlertRule, instance: Pick<Instance, 'id' | 'tags'>): boolean {
  if (rule.scope === 'instance') return rule.instance_id === instance.id;
  if (rule.scope === 'all') return true;
  return Object.entries(rule.tags).every(([name, value]) => instance.tags[name] === value);
}

export function overrideFor(rule: AlertRule, instanceId: string): RuleOverride | undefined {
  return rule.overrides.find((override) => override.instance_id === instanceId);
}
