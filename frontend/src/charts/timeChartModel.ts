// The view model of a time chart: what the component draws, computed without React.
// Invariants: at most MAX_POINTS rows; rows in time order; a gap in the data stays a gap (null), never a line across it.
import { timeTicks } from './timeAxis';
import { valueTicks, type Unit } from './units';

export const MAX_POINTS = 1000;

export type Sample = readonly [atMs: number, value: number | null];

export interface SeriesInput {
  key: string;
  label: string;
  samples: readonly Sample[];
  /** How the figure is computed, shown when the pointer is over the legend. */
  formula?: string;
  /** The number of a series colour of the theme, 1 to 6. */
  color: number;
  /** True for a line drawn for comparison: of another instance, or of an earlier span. */
  isDashed?: boolean;
  /** True for a line that often coincides with another one. Dotted, both stay visible. */
  isDotted?: boolean;
}

/** A moment (in milliseconds) that is marked on a chart, such as a change that took effect. */
export interface Annotation {
  at: number;
  label: string;
  /** Opens what the mark stands for. Absent if the mark cannot be clicked. */
  open?: () => void;
}

export interface TimeChartInput {
  series: SeriesInput[];
  from: number;
  to: number;
  unit: Unit;
  annotations?: Annotation[];
}

/** The values of all series at one time, by series key. Null, or no entry, is a gap. */
export type Row = { at: number } & Record<string, number | null>;

export interface TimeChartModel {
  rows: Row[];
  series: Omit<SeriesInput, 'samples'>[];
  unit: Unit;
  domain: [number, number];
  ticks: number[];
  valueTicks: number[];
  annotations: Annotation[];
  isEmpty: boolean;
}

/**
 * Returns at most `limit` samples: the samples themselves, or, if there are more, means over groups of equal length at
 * the time of each group's first sample. A group without values gives null.
 */
export function thin(samples: readonly Sample[], limit = MAX_POINTS): readonly Sample[] {
  if (samples.length <= limit) return samples;
  const perBucket = Math.ceil(samples.length / limit);
  const thinned: Sample[] = [];
  for (let start = 0; start < samples.length; start += perBucket) {
    const bucket = samples.slice(start, start + perBucket);
    const values = bucket.flatMap(([, value]) => (value === null ? [] : [value]));
    const mean = values.length ? values.reduce((sum, value) => sum + value, 0) / values.length : null;
    thinned.push([bucket[0]?.[0] ?? 0, mean]);
  }
  return thinned;
}

function mergeRows(series: SeriesInput[], from: number, to: number): Row[] {
  const byTime = new Map<number, Row>();
  for (const { key, samples } of series) {
    for (const [at, value] of thin(samples)) {
      if (at < from || at > to) continue;
      const row: Row = byTime.get(at) ?? { at };
      row[key] = value;
      byTime.set(at, row);
    }
  }
  return [...byTime.values()].sort((a, b) => a.at - b.at);
}

function largest(rows: Row[], keys: string[]): number {
  return rows.reduce((max, row) => Math.max(max, ...keys.map((key) => row[key] ?? 0)), 0);
}

/** Computes what a chart draws. Samples and annotations outside of the span are left out. */
export function buildTimeChart(input: TimeChartInput): TimeChartModel {
  const { series, from, to, unit } = input;
  const rows = mergeRows(series, from, to).slice(-MAX_POINTS * series.length);
  const keys = series.map(({ key }) => key);
  return {
    rows,
    series: series.map(({ key, label, formula, color, isDashed, isDotted }) => ({
      key,
      label,
      formula,
      color,
      isDashed,
      isDotted,
    })),
    unit,
    domain: [from, to],
    ticks: timeTicks(from, to, 6),
    valueTicks: valueTicks(largest(rows, keys), unit),
    annotations: (input.annotations ?? []).filter(({ at }) => at >= from && at <= to),
    isEmpty: !rows.some((row) => keys.some((key) => row[key] !== null && row[key] !== undefined)),
  };
}

/**
 * The span between two dragged positions (in milliseconds), in time order. Undefined if it is less than a hundredth of
 * the domain: that was a click, not a drag.
 */
export function zoomRange(
  start: number,
  end: number,
  domain: [number, number],
): [number, number] | undefined {
  const [from, to] = start < end ? [start, end] : [end, start];
  return to - from > (domain[1] - domain[0]) / 100 ? [from, to] : undefined;
}
