import { expect, test } from 'vitest';
import type { Translate } from '@/lib/i18n/context';
import {
  foundEntries,
  instanceOf,
  matchingEntries,
  pageEntries,
  parameterEntries,
  instancePageEntries,
  statementEntries,
} from './paletteEntries';

const t = ((key: string) => key) as Translate;

test('an instance on the screen offers its rooms, and other pages do not', () => {
  expect(instancePageEntries('/instances/rm-1/overview', t).map(({ href }) => href)).toContain(
    '/instances/rm-1/parameters',
  );
  expect(instancePageEntries('/fleet', t)).toEqual([]);
});

test('whoever may not change anything is offered pages and help alone', () => {
  expect(new Set(pageEntries(t, false).map(({ kind }) => kind))).toEqual(
    new Set(['palette.page', 'palette.help']),
  );
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

test('whoever looks for the API finds the page with its tokens', () => {
  const english = ((key: string) => (key === 'palette.words.access' ? 'API tokens' : key)) as Translate;
  const found = matchingEntries(pageEntries(english, false), 'api');
  expect(found.map(({ href }) => href)).toEqual(['/access']);
});

test('parameters and statements of the instance are found once something was typed', () => {
  expect(instanceOf('/instances/rm-1/near')).toBe('rm-1');
  const parameters = parameterEntries('rm-1', ['query_cache_size', 'max_connections'], t);
  expect(foundEntries(parameters, ' ')).toEqual([]);
  expect(foundEntries(parameters, 'cache').map(({ href }) => href)).toEqual([
    '/instances/rm-1/parameters?search=query_cache_size',
  ]);
  const statements = statementEntries(
    'rm-1',
    [{ Query: 'SELECT ?', Digest: 'a1' }, { Query: 'all others' }],
    t,
  );
  expect(foundEntries(statements, 'select').map(({ href }) => href)).toEqual([
    '/instances/rm-1/queries?statement=a1',
  ]);
});
