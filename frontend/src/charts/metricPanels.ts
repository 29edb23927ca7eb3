// Which metrics of a response are plotted together, and in which colour. Titles, units and formulas come with the
// figures. Pure.
import type { components } from '@/api/schema.gen';
import {
  buildTimeChart,
  type Annotation,
  type Sample,
  type SeriesInput,
  type TimeChartModel,
} from './timeChartModel';
import { unitOf } from './units';

export type MetricAnswer = components['schemas']['Series'];
type MetricSeries = components['schemas']['MetricSeries'];

/**
 * What one chart plots: the names of its metrics, in the order of their colours. The first one decides the unit.
 * Metrics that a response does not have are left out.
 */
export interface PanelPlan<Key extends string = string> {
  key: Key;
  metrics: string[];
  isFilled?: boolean;
  /** True if the lines often coincide: every metric after the first one is then dotted. */
  isOverlaid?: boolean;
  isHeadline?: boolean;
  /** True if the panel takes a whole row of the grid. */
  isWide?: boolean;
  /** Which figures the panel needs in order to be shown, since most servers never have any. Absent means none. */
  isShownFrom?: 'anyFigure' | 'figuresAbove0';
}

/**
 * The chart of how reads were answered: by near caches, by the server's cache, and by the server with or without
 * storing the result. Each read is counted in exactly one of its lines.
 */
export const READS_PANEL: PanelPlan<'traffic'> = {
  key: 'traffic',
  metrics: ['near_hits_per_second', 'hits_per_second', 'inserts_per_second', 'not_cached_per_second'],
  isFilled: true,
  isHeadline: true,
};

/** The distinct metrics that these panels plot, to be requested together. */
export function metricNames(plans: PanelPlan[]): string[] {
  return [...new Set(plans.flatMap(({ metrics }) => metrics))];
}

/** A response with metrics, and the name that its lines have in a comparison, such as that of the instance. */
export interface Source {
  label: string;
  answer: MetricAnswer;
}

/**
 * Returns the response of an earlier span with its values at the times of the later one, so that both can be drawn in
 * one chart. `byMs` is the time between the spans. Times without an earlier sample have null.
 */
export function shiftedInTime(earlier: MetricAnswer, later: MetricAnswer, byMs: number): MetricAnswer {
  const [first = 0] = earlier.times;
  const indexAt = (at: number) => Math.round((at - byMs / 1000 - first) / earlier.step_seconds);
  const series = earlier.series.map((each) => ({
    ...each,
    values: later.times.map((at) => each.values[indexAt(at)] ?? null),
  }));
  return { ...earlier, times: later.times, step_seconds: later.step_seconds, series };
}

/** A copy of the source with titles and formulas of its metrics in the viewer's language. */
export function translateSource(
  { label, answer }: Source,
  metricText: (series: MetricSeries) => MetricSeries,
): Source {
  return { label, answer: { ...answer, series: answer.series.map(metricText) } };
}

function samplesOf(answer: MetricAnswer, series: MetricSeries): Sample[] {
  return answer.times.map((at, index) => [at * 1000, series.values[index] ?? null] as const);
}

function inputsOf(plan: PanelPlan, source: Source, isCompared: boolean): SeriesInput[] {
  return plan.metrics.flatMap((name, index) => {
    const series = source.answer.series.find((item) => item.name === name);
    if (!series) return [];
    return {
      key: isCompared ? `${name}@${source.label}` : name,
      label: isCompared ? `${series.title}, ${source.label}` : series.title,
      formula: `${series.title} = ${series.formula}`,
      samples: samplesOf(source.answer, series),
      color: index + 1,
      isDashed: isCompared,
      isDotted: plan.isOverlaid && index > 0,
    };
  });
}

/** The start and end of the response's span in milliseconds. The end is one step after the last sample's time. */
export function domainOf({ times, step_seconds }: MetricAnswer): [number, number] {
  return [(times[0] ?? 0) * 1000, ((times.at(-1) ?? 0) + step_seconds) * 1000];
}

/** False for a panel that is only shown if the sources have certain figures (`isShownFrom`), and they have none. */
export function isShown(plan: PanelPlan, sources: Source[]): boolean {
  if (!plan.isShownFrom) return true;
  const plotted = sources
    .flatMap(({ answer }) => answer.series)
    .filter(({ name }) => plan.metrics.includes(name));
  const figures = plotted.flatMap(({ values }) => values).filter((value) => value !== null);
  return figures.some((figure) => figure > 0 || plan.isShownFrom === 'anyFigure');
}

/**
 * The chart of a panel. The first source gives span and unit; the lines of all further sources are dashed, as a
 * comparison.
 */
export function buildPanel(plan: PanelPlan, sources: Source[], annotations: Annotation[]): TimeChartModel {
  const [main] = sources;
  const [from, to] = main ? domainOf(main.answer) : [0, 0];
  const unit = main?.answer.series.find(({ name }) => name === plan.metrics[0])?.unit ?? 'count';
  const series = sources.flatMap((source, index) => inputsOf(plan, source, index > 0));
  return buildTimeChart({ series, from, to, unit: unitOf(unit), annotations });
}
