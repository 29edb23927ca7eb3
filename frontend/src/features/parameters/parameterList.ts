// Which parameters are shown, and what a row says. Pure.
import type { InstanceParameter } from '@/api/instances';
import type { ParameterFilter } from './search';

const CACHE_COMPANIONS = new Set(['innodb_buffer_pool_size', 'have_query_cache']);

export function isCacheParameter(name: string): boolean {
  return /^(query_cache_|fqc_)/.test(name) || CACHE_COMPANIONS.has(name);
}

const SWITCHES: Record<string, string> = { ON: '1', OFF: '0', DEMAND: '2' };

function normal(value: string): string {
  const upper = value.toUpperCase();
  return SWITCHES[upper] ?? upper;
}

/**
 * True if a variable of the engine (`fqc_size`) runs with a value other than its default. Such a variable is set
 * through another parameter (`query_cache_size`), so this can be so although it has no configured value.
 */
export function isEngineValueChanged({
  name,
  running,
  default: usual,
  is_modifiable: isModifiable,
}: InstanceParameter) {
  if (!name.startsWith('fqc_') || !isModifiable || running === null || usual === null) return false;
  return normal(running) !== normal(usual);
}

const TESTS: Record<ParameterFilter, (row: InstanceParameter) => boolean> = {
  all: () => true,
  changed: (row) => row.configured !== null || isEngineValueChanged(row),
  pending: (row) => row.is_pending_restart,
  drifted: (row) => row.is_drifted,
  cache: (row) => isCacheParameter(row.name),
};

/**
 * The parameters that match both the filter and every word of the search, in their order. Words are searched in name
 * and description.
 */
export function filterParameters(
  rows: InstanceParameter[],
  filter: ParameterFilter,
  search: string,
): InstanceParameter[] {
  const words = search.toLowerCase().split(/\s+/).filter(Boolean);
  const matches = (row: InstanceParameter) => {
    const text = `${row.name} ${row.description}`.toLowerCase();
    return words.every((word) => text.includes(word));
  };
  return rows.filter((row) => TESTS[filter](row) && matches(row));
}

export function countByFilter(rows: InstanceParameter[]): Record<ParameterFilter, number> {
  const count = (filter: ParameterFilter) => rows.filter(TESTS[filter]).length;
  return {
    all: rows.length,
    changed: count('changed'),
    pending: count('pending'),
    drifted: count('drifted'),
    cache: count('cache'),
  };
}

/**
 * The value to show for a parameter: the configured one, else the one that the server runs, else the default. Null if
 * none is known.
 */
export function presentValue(row: InstanceParameter): string | null {
  return row.configured ?? row.running ?? row.default;
}
