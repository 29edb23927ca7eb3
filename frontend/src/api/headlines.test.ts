import { expect, test } from 'vitest';
import { HEADLINES } from './headlines';

const [definitions = ''] = Object.values(
  import.meta.glob<string>('../../../backend/controlplane/metrics/definitions.py', {
    query: '?raw',
    import: 'default',
    eager: true,
  }),
);

test('the headlines are those that the backend defines, of the hour that their labels tell', () => {
  const [, names = ''] = /^HEADLINES = \(([^)]*)\)/m.exec(definitions) ?? [];
  expect([...names.matchAll(/"(\w+)"/g)].map(([, name]) => name)).toEqual([...HEADLINES]);
  expect(definitions).toContain('HEADLINE_SECONDS = 3600\n');
});
