import type { Translate } from '@/lib/i18n/context';

const ROLES = ['viewer', 'operator', 'admin'] as const;
export type RoleName = (typeof ROLES)[number];

export function roleOptions(t: Translate) {
  return ROLES.map((role) => ({ value: role, label: t(`access.role.${role}`) }));
}
