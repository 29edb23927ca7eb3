// Appends polled rounds to the API's response of a chart. Only rounds newer than the response count: its figures are
// summed over a whole step, but a round is one sample. Pure.
import type { Round } from '@/api/useSamples';
import type { MetricAnswer } from '@/charts/metricPanels';

const KEPT_ROUNDS = 500;

/**
 * The rounds with `next` added in order of time; unchanged if they have it already. At most the newest 500 are kept.
 */
export function withRound(rounds: Round[], next: Round): Round[] {
  if (rounds.some(({ sampled_at }) => sampled_at === next.sampled_at)) return rounds;
  return [...rounds, next].sort((a, b) => a.sampled_at - b.sampled_at).slice(-KEPT_ROUNDS);
}

/**
 * Returns the response with the values that the pushed rounds (polls of the server) have for this instance after the
 * response's last figure. The span keeps its length: for each step added at the end, one is dropped at the start.
 */
export function withRounds(answer: MetricAnswer, rounds: Round[], instanceId: string): MetricAnswer {
  const { times, step_seconds: step } = answer;
  const first = times[0];
  if (first === undefined) return answer;
  const samples = new Map<number, Record<string, number | null>>();
  const known = lastKnown(answer);
  for (const { sampled_at, values } of rounds) {
    const at = Math.floor(sampled_at / step) * step;
    const found = values?.[instanceId];
    if (found && at >= first && (known === undefined || at > known)) samples.set(at, found);
  }
  if (samples.size === 0) return answer;
  const end = Math.max(times.at(-1) ?? first, ...samples.keys());
  const begin = end - (times.length - 1) * step;
  const moved = Array.from(times, (_, place) => begin + place * step);
  const values = ({ name, values: old }: MetricAnswer['series'][number]) =>
    moved.map((at) => samples.get(at)?.[name] ?? old[(at - first) / step] ?? null);
  return {
    ...answer,
    times: moved,
    series: answer.series.map((series) => ({ ...series, values: values(series) })),
  };
}

/** The last time, in seconds since 1970, at which any metric of the response has a value. Undefined if none has. */
function lastKnown({ times, series }: MetricAnswer): number | undefined {
  return times.findLast((_, place) => series.some(({ values }) => (values[place] ?? null) !== null));
}
