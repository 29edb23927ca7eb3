import type { ComponentType } from 'react';
import {
  IconBell,
  IconHistory,
  IconServer2,
  IconSettings,
  IconTemplate,
  IconUsers,
} from '@/components/icons';
import type { MessageKey } from '@/lib/i18n/en';

interface NavigationItem {
  to: '/fleet' | '/templates' | '/alerts' | '/audit' | '/access' | '/settings';
  label: MessageKey;
  icon: ComponentType<{ size?: number | string }>;
  /** Further first parts of paths whose pages belong to this entry. */
  also?: string[];
}

export const NAVIGATION: NavigationItem[] = [
  { to: '/fleet', label: 'nav.fleet', icon: IconServer2, also: ['/instances', '/changes'] },
  { to: '/templates', label: 'nav.templates', icon: IconTemplate, also: ['/fleet-applies'] },
  { to: '/alerts', label: 'nav.alerts', icon: IconBell },
  { to: '/audit', label: 'nav.audit', icon: IconHistory },
  { to: '/access', label: 'nav.access', icon: IconUsers },
  { to: '/settings', label: 'nav.settings', icon: IconSettings },
];

/** True if the page at `path` belongs to this entry, so that the entry is highlighted. */
export function isActiveItem(item: NavigationItem, path: string): boolean {
  return [item.to, ...(item.also ?? [])].some((prefix) => path === prefix || path.startsWith(`${prefix}/`));
}
