// The palette's entries other than instances: the tabs of the current instance, the pages, and actions that start
// there. Pure.
import type { Translate } from '@/lib/i18n/context';
import { NAVIGATION } from './navigation';

/**
 * An entry of the palette. `kind` says what it is, such as "page" or "parameter"; `href` is the address that it opens.
 * The search also looks in `words`, which are not shown.
 */
export interface Entry {
  label: string;
  kind: string;
  href: string;
  words?: string;
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

/** The id of the instance whose page has this path; undefined for pages that belong to no instance. */
export function instanceOf(path: string): string | undefined {
  return /^\/instances\/([^/]+)/.exec(path)?.[1];
}

/** The `href` of the entry that opens the list of keyboard shortcuts, which is a dialog and has no address. */
export const KEYS = '#keys';

/** How many matches of a long list are offered at most. Typing more letters narrows them down. */
const MOST_FOUND = 12;

export function parameterEntries(id: string, names: string[], t: Translate): Entry[] {
  return names.map((name) => ({
    label: name,
    kind: t('palette.parameter'),
    href: `/instances/${id}/parameters?search=${encodeURIComponent(name)}`,
  }));
}

export function statementEntries(id: string, rows: Record<string, string | null>[], t: Translate): Entry[] {
  return rows.flatMap(({ Query, Digest }) =>
    Query && Digest
      ? [
          {
            label: Query,
            kind: t('palette.statement'),
            href: `/instances/${id}/queries?statement=${encodeURIComponent(Digest)}`,
          },
        ]
      : [],
  );
}

/** At most 12 matching entries of a long list, such as an instance's parameters. None while nothing was typed. */
export function foundEntries(entries: Entry[], text: string): Entry[] {
  return text.trim() === '' ? [] : matchingEntries(entries, text).slice(0, MOST_FOUND);
}

/** The tabs of the instance whose page has this path; none on other pages. */
export function instancePageEntries(path: string, t: Translate): Entry[] {
  const id = instanceOf(path);
  if (id === undefined) return [];
  return ROOMS.map((room) => ({
    label: t(`instance.room.${room}`),
    kind: t('palette.thisInstance'),
    href: `/instances/${id}/${room}`,
  }));
}

/** The pages of the console. With `canChange` also the actions that need an operator. */
export function pageEntries(t: Translate, canChange: boolean): Entry[] {
  const pages = [
    ...NAVIGATION.map(({ label, to }) => ({
      label: t(label),
      kind: t('palette.page'),
      href: to,
      words: to === '/access' ? t('palette.words.access') : undefined,
    })),
    { label: t('keys.title'), kind: t('palette.help'), href: KEYS },
  ];
  if (!canChange) return pages;
  const kind = t('palette.action');
  return [
    ...pages,
    { label: t('fleet.add'), kind, href: '/fleet?add=true' },
    { label: t('fleet.applyTemplate'), kind, href: '/templates/apply' },
    { label: t('templates.new'), kind, href: '/templates?add=true' },
  ];
}

/**
 * The entries whose label, kind or further words contain every typed word, in whatever case. All entries if nothing was
 * typed.
 */
export function matchingEntries(entries: Entry[], text: string): Entry[] {
  const words = text.toLowerCase().split(/\s+/).filter(Boolean);
  return entries.filter((entry) => {
    const text = `${entry.label} ${entry.kind} ${entry.words ?? ''}`.toLowerCase();
    return words.every((word) => text.includes(word));
  });
}
