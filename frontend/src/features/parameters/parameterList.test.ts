import { expect, test } from 'vitest';
import type { InstanceParameter } from '@/api/instances';
import { countByFilter, filterParameters, presentValue } from './parameterList';

function row(name: string, more: Partial<InstanceParameter> = {}): InstanceParameter {
  return {
    name,
    type: 'integer',
    unit: '',
    description: '',
    default: null,
    allowed: '',
    divisor: 1,
    is_modifiable: true,
    access: 'operator',
    access_code: 'tuning',
    access_reason: '',
    needs_restart: false,
    configured: null,
    resolved: null,
    running: null,
    is_pending_restart: false,
    is_drifted: false,
    updated_at: null,
    ...more,
  };
}

const rows = [
  row('query_cache_size', { configured: '0', description: 'Memory of the query cache' }),
  row('wait_timeout', { is_drifted: true, configured: '10' }),
  row('performance_schema', { is_pending_restart: true, configured: '1' }),
  row('innodb_buffer_pool_size'),
];

test('filters count what they show', () => {
  const counts = countByFilter(rows);
  expect(counts).toEqual({ all: 4, changed: 3, pending: 1, drifted: 1, cache: 2 });
  expect(filterParameters(rows, 'cache', '')).toHaveLength(counts.cache);
});

test('what the engine runs beside its default is changed, also where nobody configured it by that name', () => {
  const own = [
    row('fqc_size', { running: '67108864', default: '1048576' }),
    row('fqc_type', { running: 'ON', default: 'OFF' }),
    row('fqc_limit', { running: '1048576', default: '1048576' }),
    row('fqc_observe', { running: 'OFF', default: '0' }),
    row('fqc_version', { running: '0.1.0', default: '', is_modifiable: false }),
  ];
  expect(filterParameters(own, 'changed', '').map(({ name }) => name)).toEqual(['fqc_size', 'fqc_type']);
});

test('the search takes words of name and description in any order', () => {
  expect(filterParameters(rows, 'all', 'memory QUERY').map(({ name }) => name)).toEqual(['query_cache_size']);
});

test('what is configured wins over what runs, and that over the default', () => {
  expect(presentValue(row('a', { configured: '{x}', running: '5', default: '1' }))).toBe('{x}');
  expect(presentValue(row('a', { running: '5', default: '1' }))).toBe('5');
  expect(presentValue(row('a', { default: '1' }))).toBe('1');
});
