import { choiceParam, numberParam, textParam, type RawSearch } from '@/lib/searchParams';

/**
 * A rule that another page proposes to add, in the address. It needs `cache` and a digest or a table; otherwise none is
 * added.
 */
export interface RulesSearch {
  digest?: string;
  table?: string;
  cache?: 'never' | 'always';
  ttl?: number;
}

export function rulesSearch(raw: RawSearch): RulesSearch {
  return {
    digest: textParam(raw, 'digest'),
    table: textParam(raw, 'table'),
    cache: choiceParam(raw, 'cache', ['never', 'always'] as const),
    ttl: numberParam(raw, 'ttl'),
  };
}
