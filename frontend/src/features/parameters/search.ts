import { choiceParam, textParam, type RawSearch } from '@/lib/searchParams';

export const FILTERS = ['all', 'changed', 'pending', 'drifted', 'cache'] as const;
export type ParameterFilter = (typeof FILTERS)[number];

export interface ParametersSearch {
  filter?: ParameterFilter;
  search?: string;
  /** Values by parameter name that are added to the draft when the page opens: a change that another page prepared. */
  set?: Record<string, string>;
}

export function parametersSearch(raw: RawSearch): ParametersSearch {
  return {
    filter: choiceParam(raw, 'filter', FILTERS),
    search: textParam(raw, 'search'),
    set: preparedValues(raw.set),
  };
}

function preparedValues(value: unknown): Record<string, string> | undefined {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return undefined;
  const pairs = Object.entries(value).filter(([name]) => /^[a-z][a-z0-9_]{0,63}$/.test(name));
  return pairs.length ? Object.fromEntries(pairs.map(([name, text]) => [name, String(text)])) : undefined;
}
