import { choiceParam, flagParam, numberParam, textParam, type RawSearch } from '@/lib/searchParams';

export const RANGES = ['15m', '1h', '6h', '1d', '7d', '30d', '90d'] as const;
export type Range = (typeof RANGES)[number];

const MINUTE_MS = 60_000;
const DAY_MS = 1440 * MINUTE_MS;

export const RANGE_MS: Record<Range, number> = {
  '15m': 15 * MINUTE_MS,
  '1h': 60 * MINUTE_MS,
  '6h': 360 * MINUTE_MS,
  '1d': DAY_MS,
  '7d': 7 * DAY_MS,
  '30d': 30 * DAY_MS,
  '90d': 90 * DAY_MS,
};

export interface MonitoringSearch {
  range?: Range;
  /** The start of a selected span, in milliseconds since 1970. Only set together with `to`; otherwise `range` holds. */
  from?: number;
  to?: number;
  live?: true;
  compare?: string;
  /** True to show the preceding span of the same length, too. */
  previous?: true;
}

/** The length of the shown span in milliseconds. An hour if the address has none. */
export function lengthOf({ from, to, range = '1h' }: MonitoringSearch): number {
  return from !== undefined && to !== undefined ? to - from : RANGE_MS[range];
}

export function monitoringSearch(raw: RawSearch): MonitoringSearch {
  const from = numberParam(raw, 'from');
  const to = numberParam(raw, 'to');
  const isSpan = from !== undefined && to !== undefined && from < to;
  return {
    range: choiceParam(raw, 'range', RANGES),
    from: isSpan ? from : undefined,
    to: isSpan ? to : undefined,
    live: flagParam(raw, 'live'),
    compare: textParam(raw, 'compare'),
    previous: flagParam(raw, 'previous'),
  };
}

export interface NearSearch {
  range?: Range;
}

export function nearSearch(raw: RawSearch): NearSearch {
  return { range: choiceParam(raw, 'range', RANGES) };
}

/** The spans of the figures per statement that can be chosen. They are stored by the hour, for a week. */
export const SPANS = ['1h', '24h', '7d'] as const;
export type Span = (typeof SPANS)[number];

export const SPAN_HOURS: Record<Span, number> = { '1h': 1, '24h': 24, '7d': 168 };

export const RANKINGS = ['saved', 'waste', 'observed'] as const;
export type Ranking = (typeof RANKINGS)[number];

export interface QueriesSearch {
  /** The span of the figures. Absent means since the server started to count. */
  span?: Span;
  /**
   * The ranking of the statements. Absent means by the time that the cache saves, or would save while it is observed.
   */
  by?: Ranking;
  /** The digest of the statement whose details are shown. */
  statement?: string;
}

export function queriesSearch(raw: RawSearch): QueriesSearch {
  return {
    span: choiceParam(raw, 'span', SPANS),
    by: choiceParam(raw, 'by', RANKINGS),
    statement: textParam(raw, 'statement'),
  };
}
