import { expect, test } from 'vitest';
import { exportAddress } from './exportAddress';

test('both days are part of the span', () => {
  const address = exportAddress({ from: '2026-11-01', to: '2026-11-02', format: 'jsonl' });
  const query = new URL(address ?? '', 'http://x').searchParams;
  expect(new Date(query.get('since') ?? '')).toEqual(new Date('2026-11-01T00:00:00'));
  expect(new Date(query.get('until') ?? '')).toEqual(new Date('2026-11-03T00:00:00'));
  expect(query.get('format')).toBe('jsonl');
});

test.each([
  ['2026-11-03', '2026-11-02'],
  ['', '2026-11-02'],
  ['2026-11-03', ''],
])('from %s to %s is no span', (from, to) => {
  expect(exportAddress({ from, to, format: 'csv' })).toBeUndefined();
});
