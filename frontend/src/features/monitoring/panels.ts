// Which metrics are plotted together, and in which colour. Titles, units and formulas come with the figures. Pure.
import { unitOf } from '@/charts/units';
import {
  buildTimeChart,
  type Annotation,
  type Sample,
  type SeriesInput,
  type TimeChartModel,
} from '@/charts/timeChartModel';
import type { components } from '@/api/schema.gen';

export type MetricAnswer = components['schemas']['Series'];
type MetricSeries = components['schemas']['MetricSeries'];

export interface PanelPlan {
  key:
    | 'traffic'
    | 'hitRatio'
    | 'memory'
    | 'saved'
    | 'pruned'
    | 'notCached'
    | 'bufferPool'
    | 'connections'
    | 'slow'
    | 'answerTime'
    | 'pageReads'
    | 'statements'
    | 'stale'
    | 'observed'
    | 'nearReads'
    | 'nearWait'
    | 'nearWriters';
  metrics: string[];
  isFilled?: boolean;
  /** Every metric after the first is dotted: they often coincide. */
  isOverlaid?: boolean;
  isHeadline?: boolean;
  /** A whole row of the grid. */
  isWide?: boolean;
  /** Only shown where there is something to see: most servers never have any. */
  isOptional?: boolean;
}

export const PANELS: PanelPlan[] = [
  {
    key: 'traffic',
    metrics: ['hits_per_second', 'server_reads_per_second', 'inserts_per_second'],
    isFilled: true,
    isHeadline: true,
  },
  { key: 'hitRatio', metrics: ['hit_ratio', 'select_hit_ratio'], isOverlaid: true },
  { key: 'memory', metrics: ['used_bytes', 'cache_size_bytes'] },
  {
    key: 'pruned',
    metrics: ['prunes_per_second', 'invalidations_per_second', 'invalidations_avoided_per_second'],
  },
  { key: 'bufferPool', metrics: ['buffer_pool_hit_ratio'] },
  { key: 'saved', metrics: ['saved_time'], isFilled: true },
  {
    key: 'statements',
    metrics: ['questions_per_second', 'selects_per_second', 'writes_per_second'],
    isOverlaid: true,
  },
  { key: 'answerTime', metrics: ['p95_answer_time'] },
  { key: 'slow', metrics: ['slow_queries_per_second'] },
  { key: 'connections', metrics: ['connections', 'running_threads'] },
  { key: 'pageReads', metrics: ['buffer_pool_reads_per_second'] },
  { key: 'observed', metrics: ['observed_hit_ratio'], isWide: true, isOptional: true },
  { key: 'stale', metrics: ['stale_hits_per_second'], isWide: true, isOptional: true },
  { key: 'notCached', metrics: ['not_cached_per_second'], isWide: true },
];

/** Of the page of near caches. */
export const NEAR_PANELS: PanelPlan[] = [
  {
    key: 'nearReads',
    metrics: ['near_hits_per_second', 'hits_per_second', 'misses_per_second'],
    isHeadline: true,
  },
  { key: 'nearWait', metrics: ['near_writer_wait'] },
  { key: 'nearWriters', metrics: ['near_waits_per_second'] },
];

export function metricNames(plans: PanelPlan[]): string[] {
  return [...new Set(plans.flatMap(({ metrics }) => metrics))];
}

export interface Source {
  label: string;
  answer: MetricAnswer;
}

/** An earlier answer at the times of a later one, so that both are drawn one upon the other. */
export function moved(earlier: MetricAnswer, later: MetricAnswer, byMs: number): MetricAnswer {
  const [first = 0] = earlier.times;
  const indexAt = (at: number) => Math.round((at - byMs / 1000 - first) / earlier.step_seconds);
  const series = earlier.series.map((each) => ({
    ...each,
    values: later.times.map((at) => each.values[indexAt(at)] ?? null),
  }));
  return { ...earlier, times: later.times, step_seconds: later.step_seconds, series };
}

/** The source with the names and formulas of its metrics in the viewer's language. */
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
  if (!plan.isOptional) return true;
  const plotted = sources
    .flatMap(({ answer }) => answer.series)
    .filter(({ name }) => plan.metrics.includes(name));
  return plotted.some(({ values }) => values.some(Boolean));
}

export function buildPanel(plan: PanelPlan, sources: Source[], annotations: Annotation[]): TimeChartModel {
  const [main] = sources;
  const [from, to] = main ? domainOf(main.answer) : [0, 0];
  const unit = main?.answer.series.find(({ name }) => name === plan.metrics[0])?.unit ?? 'count';
  const series = sources.flatMap((source, index) => inputsOf(plan, source, index > 0));
  return buildTimeChart({ series, from, to, unit: unitOf(unit), annotations });
}
