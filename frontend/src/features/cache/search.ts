import { numberParam, textParam, type RawSearch } from '@/lib/searchParams';

export interface CacheSearch {
  /** 0 prerequisites, 1 observe, 2 size, 3 trial, 4 review. */
  step?: number;
  /** The change set that enables or disables, to be followed. */
  change?: string;
  /** A statement to be tried; its literals are to be put in. */
  try?: string;
  /** The schema that its tables are in. */
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
