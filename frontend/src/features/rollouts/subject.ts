import type { Translate } from '@/lib/i18n/context';
import type { FleetApply } from './api';

/** Names the content of a fleet apply in a few words: the engine's new version, or a template with its version. */
export function subjectOf(t: Translate, apply: FleetApply): string {
  return apply.kind === 'upgrade'
    ? t('rollout.upgradeTo', { version: String(apply.minor_version) })
    : `${apply.template_name} · ${t('templates.versionNumber', { number: apply.template_version })}`;
}
