import { numberParam, textParam, type RawSearch } from '@/lib/searchParams';

export interface CacheSearch {
  /** 0 prerequisites, 1 observe, 2 size, 3 trial, 4 review. */
  step?: number;
  /** The id of the change set that enables or disables the cache, to be followed. */
  change?: string;
  /** A statement to try, with placeholders for its literals. */
  try?: string;
  /** The schema of the statement's tables. */
  db?: string;
}

export function cacheSearch(raw: RawSearch): CacheSearch {
  const step = numberParam(raw, 'step');
  return {
    step: step !== undefined && step >= 0 && step <= 4 ? Math.trunc(step) : undefined,
    change: textParam(raw, 'change'),
    try: textParam(raw, 'try'),
    db: textParam(raw, 'db'),
  };
}
