// What the palette offers beside instances: the rooms of the instance on the screen, the pages, and what begins there. Pure.
import type { Translate } from '@/lib/i18n/context';
import { NAVIGATION } from './navigation';

export interface Entry {
  label: string;
  kind: string;
  href: string;
}

const ROOMS = [
  'overview',
  'parameters',
  'monitoring',
  'queries',
  'near',
  'cache',
  'history',
  'alerts',
] as const;

/** Of the instance that the address names. */
export function roomEntries(path: string, t: Translate): Entry[] {
  const id = /^\/instances\/([^/]+)/.exec(path)?.[1];
  if (id === undefined) return [];
  return ROOMS.map((room) => ({
    label: t(`instance.room.${room}`),
    kind: t('palette.thisInstance'),
    href: `/instances/${id}/${room}`,
  }));
}

export function pageEntries(t: Translate, canChange: boolean): Entry[] {
  const pages = NAVIGATION.map(({ label, to }) => ({ label: t(label), kind: t('palette.page'), href: to }));
  if (!canChange) return pages;
  const kind = t('palette.action');
  return [
    ...pages,
    { label: t('fleet.add'), kind, href: '/fleet?add=true' },
    { label: t('fleet.applyTemplate'), kind, href: '/templates/apply' },
    { label: t('templates.new'), kind, href: '/templates?add=true' },
  ];
}

/** Every word that was typed is in the label or its kind. */
export function matchingEntries(entries: Entry[], text: string): Entry[] {
  const words = text.toLowerCase().split(/\s+/).filter(Boolean);
  return entries.filter(({ label, kind }) =>
    words.every((word) => `${label} ${kind}`.toLowerCase().includes(word)),
  );
}
