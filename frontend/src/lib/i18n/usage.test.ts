// Every string is asked for somewhere: by its key, or by a template that can give it.
import { expect, test } from 'vitest';
import { en } from './en';

const SOURCES = import.meta.glob<string>(
  ['/src/**/*.{ts,tsx}', '!/src/lib/i18n/*', '!/src/**/*.test.ts', '!/src/api/schema.gen.ts'],
  { query: '?raw', import: 'default', eager: true },
);
const source = Object.values(SOURCES).join('\n');

const literals = new Set([...source.matchAll(/'([\w.]+)'/g)].map(([, literal]) => literal));
// `rules.severity.${value}` gives every key that begins so; a value has no dot.
const templates = [...source.matchAll(/`(\w[\w.]*\.\$\{[^`]*)`/g)].map(
  ([, template = '']) => new RegExp(`^${template.replaceAll('.', '\\.').replace(/\$\{[^}]*\}/g, '[^.]+')}$`),
);

test('no string is left over', () => {
  const isUsed = (key: string) => literals.has(key) || templates.some((template) => template.test(key));
  expect(Object.keys(en).filter((key) => !isUsed(key))).toEqual([]);
});
