import { numberParam, textParam, type RawSearch } from '@/lib/searchParams';

export interface CacheSearch {
  /** The open step of the guided flow: 0 prerequisites, 1 observe, 2 size, 3 trial, 4 review. */
  step?: number;
  /** The id of the change set that was just started to enable or disable the cache, whose progress is shown. */
  change?: string;
  /** A statement to fill in at the trial step. It may have `?` instead of literals. */
  try?: string;
  /** The schema in which the trial runs that statement. */
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
