import type { Translate } from '@/lib/i18n/context';
import type { FleetApply } from './api';

/** A short name of what a fleet apply brings to the instances: a new version or a template. */
export function subjectOf(t: Translate, apply: FleetApply): string {
  return apply.kind === 'upgrade'
    ? t('rollout.upgradeTo', { version: String(apply.minor_version) })
    : `${apply.template_name} · ${t('templates.versionNumber', { number: apply.template_version })}`;
}
