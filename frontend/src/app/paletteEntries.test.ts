import { expect, test } from 'vitest';
import type { Translate } from '@/lib/i18n/context';
import { matchingEntries, pageEntries, roomEntries } from './paletteEntries';

const t = ((key: string) => key) as Translate;

test('an instance on the screen offers its rooms, and other pages do not', () => {
  expect(roomEntries('/instances/rm-1/overview', t).map(({ href }) => href)).toContain(
    '/instances/rm-1/parameters',
  );
  expect(roomEntries('/fleet', t)).toEqual([]);
});

test('whoever may not change anything is offered pages alone', () => {
  expect(pageEntries(t, false).every(({ kind }) => kind === 'palette.page')).toBe(true);
  expect(pageEntries(t, true).map(({ href }) => href)).toContain('/fleet?add=true');
});

test('all words that are typed have to be there, in any order', () => {
  const entries = [
    { label: 'Apply a template', kind: 'Action', href: '/a' },
    { label: 'Templates', kind: 'Page', href: '/b' },
  ];
  expect(matchingEntries(entries, 'TEMPLATE apply').map(({ href }) => href)).toEqual(['/a']);
  expect(matchingEntries(entries, '')).toHaveLength(2);
});
