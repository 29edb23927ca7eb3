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

export interface PanelPlan<Key extends string = string> {
  key: Key;
  metrics: string[];
  isFilled?: boolean;
  /** Draws every metric after the first one dotted, because the lines often coincide. */
  isOverlaid?: boolean;
  isHeadline?: boolean;
  /** The panel takes a whole row of the grid. */
  isWide?: boolean;
  /** Hides the panel until it has such a figure, since most servers never have any. */
  isShownFrom?: 'anyFigure' | 'figuresAbove0';
}

/** The chart of hits against inserts, with near caches. Each read is counted in exactly one of its lines. */
export const READS: PanelPlan<'traffic'> = {
  key: 'traffic',
  metrics: ['near_hits_per_second', 'hits_per_second', 'inserts_per_second', 'not_cached_per_second'],
  isFilled: true,
  isHeadline: true,
};

export function metricNames(plans: PanelPlan[]): string[] {
  return [...new Set(plans.flatMap(({ metrics }) => metrics))];
}

export interface Source {
  label: string;
  answer: MetricAnswer;
}

/** An earlier response shifted to the times of a later one, so that both can be drawn in one chart. */
export function moved(earlier: MetricAnswer, later: MetricAnswer, byMs: number): MetricAnswer {
  const [first = 0] = earlier.times;
  const indexAt = (at: number) => Math.round((at - byMs / 1000 - first) / earlier.step_seconds);
  const series = earlier.series.map((each) => ({
    ...each,
    values: later.times.map((at) => each.values[indexAt(at)] ?? null),
  }));
  return { ...earlier, times: later.times, step_seconds: later.step_seconds, series };
}

/** The source with names and formulas of its metrics in the viewer's language. */
export function toldSource({ label, answer }: Source, told: (series: MetricSeries) => MetricSeries): Source {
  return { label, answer: { ...answer, series: answer.series.map(told) } };
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

export function domainOf({ times, step_seconds }: MetricAnswer): [number, number] {
  return [(times[0] ?? 0) * 1000, ((times.at(-1) ?? 0) + step_seconds) * 1000];
}

export function isShown(plan: PanelPlan, sources: Source[]): boolean {
  if (!plan.isShownFrom) return true;
  const plotted = sources
    .flatMap(({ answer }) => answer.series)
    .filter(({ name }) => plan.metrics.includes(name));
  const figures = plotted.flatMap(({ values }) => values).filter((value) => value !== null);
  return figures.some((figure) => figure > 0 || plan.isShownFrom === 'anyFigure');
}

export function buildPanel(plan: PanelPlan, sources: Source[], annotations: Annotation[]): TimeChartModel {
  const [main] = sources;
  const [from, to] = main ? domainOf(main.answer) : [0, 0];
  const unit = main?.answer.series.find(({ name }) => name === plan.metrics[0])?.unit ?? 'count';
  const series = sources.flatMap((source, index) => inputsOf(plan, source, index > 0));
  return buildTimeChart({ series, from, to, unit: unitOf(unit), annotations });
}
