import { numberParam, textParam, type RawSearch } from '@/lib/searchParams';

export interface CacheSearch {
  /** 0 prerequisites, 1 size, 2 trial, 3 review. */
  step?: number;
  /** The change set that enables or disables, to be followed. */
  change?: string;
}

export function cacheSearch(raw: RawSearch): CacheSearch {
  const step = numberParam(raw, 'step');
  return {
    step: step !== undefined && step >= 0 && step <= 3 ? Math.trunc(step) : undefined,
    change: textParam(raw, 'change'),
  };
}
