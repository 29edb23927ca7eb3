import { choiceParam, numberParam, textParam, type RawSearch } from '@/lib/searchParams';

/** A rule that another page proposes to add. */
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
