// Every string is used somewhere, by its key or by a template that can produce the key. The first load has the strings
// of the first page and no others.
import { expect, test } from 'vitest';
import { en } from './en';
import { enPages } from './enPages';

const SOURCES = import.meta.glob<string>(
  [
    '/src/**/*.{ts,tsx}',
    '!/src/lib/i18n/{en,enPages,zh,zhApiTexts}.ts',
    '!/src/**/*.test.ts',
    '!/src/api/schema.gen.ts',
  ],
  { query: '?raw', import: 'default', eager: true },
);
const IMPORT = /^(?:import|export)(?! type\b)[^;]*?\bfrom '([^']+)'/gm;

/** Returns a function that says whether these files use a key: as a literal, or by a template that can produce it. */
function asked(files: string[]): (key: string) => boolean {
  const source = files.map((file) => SOURCES[file]).join('\n');
  const literals = new Set([...source.matchAll(/'([\w.]+)'/g)].map(([, literal]) => literal));
  // The template `rules.severity.${value}` matches every key with this beginning; a value has no dot.
  const templates = [...source.matchAll(/`(\w[\w.]*\.\$\{[^`]*)`/g)].map(
    ([, template = '']) =>
      new RegExp(`^${template.replaceAll('.', '\\.').replace(/\$\{[^}]*\}/g, '[^.]+')}$`),
  );
  return (key) => literals.has(key) || templates.some((template) => template.test(key));
}

/** These files (paths from /src on) and all files that they import statically, directly or not. */
function withImports(files: string[]): string[] {
  const found = new Set(files);
  for (const file of found) {
    for (const [, address = ''] of SOURCES[file]?.matchAll(IMPORT) ?? []) {
      const { pathname } = new URL(address.replace(/^@\//, '/src/'), `file://${file}`);
      const path = [`${pathname}.ts`, `${pathname}.tsx`].find((name) => name in SOURCES);
      if (/^[@.]\.?\//.test(address) && path) found.add(path);
    }
  }
  return [...found];
}

test('no string is left over', () => {
  const isAsked = asked(Object.keys(SOURCES));
  expect(Object.keys({ ...en, ...enPages }).filter((key) => !isAsked(key))).toEqual([]);
});

test('what the first page says is loaded with it, and nothing else', () => {
  const first = withImports(['/src/main.tsx', '/src/features/fleet/FleetPage.tsx']);
  expect(first).toContain('/src/components/ErrorPanel.tsx');
  expect(first).not.toContain('/src/features/fleet/AddInstance.tsx');
  const isAsked = asked(first);
  expect(Object.keys(enPages).filter(isAsked)).toEqual([]);
  expect(Object.keys(en).filter((key) => !isAsked(key))).toEqual([]);
});
