import { expect, test } from 'vitest';
import type { Round } from '@/api/useSamples';
import { withRound, withRounds } from './liveSamples';
import type { MetricAnswer } from '@/charts/metricPanels';

const hits = (values: (number | null)[]): MetricAnswer => ({
  times: values.map((_, place) => 1500 + 15 * place),
  step_seconds: 15,
  resolution: 'raw',
  series: [
    {
      name: 'hits_per_second',
      title: 'Hits',
      unit: 'per second',
      formula: 'growth of Qcache_hits',
      values,
      whole: null,
    },
  ],
});

const round = (sampled_at: number, value: number | null, id = 'rm-1'): Round => ({
  topic: 'samples',
  subject: 'fleet',
  at: '2026-01-01T00:00:00Z',
  sampled_at,
  answered: 1,
  fleet: {},
  values: { [id]: { hits_per_second: value } },
});

test('a round goes to its own time, and the chart moves on with it', () => {
  const live = withRounds(hits([1, 2, null]), [round(1530, 3), round(1545, 4)], 'rm-1');
  expect(live.times).toEqual([1515, 1530, 1545]);
  expect(live.series[0]?.values).toEqual([2, 3, 4]);
});

test('a round that was not told is a gap', () => {
  const live = withRounds(hits([1, 2, 3]), [round(1560, 5)], 'rm-1');
  expect(live.times).toEqual([1530, 1545, 1560]);
  expect(live.series[0]?.values).toEqual([3, null, 5]);
});

test('what the answer has already stays as it is, also over a wider step', () => {
  const answer = hits([1, 2, 3]);
  expect(withRounds(answer, [round(1515, 9), round(1531, 9)], 'rm-1')).toBe(answer);
});

test('a round of other instances changes nothing', () => {
  const answer = hits([1, 2, null]);
  expect(withRounds(answer, [round(1530, 3, 'rm-2')], 'rm-1')).toBe(answer);
});

test('a round counts once, in the order of time, however it arrives', () => {
  const rounds = [round(30, 1), round(15, 2), round(30, 3)].reduce<Round[]>(withRound, []);
  expect(rounds.map(({ sampled_at }) => sampled_at)).toEqual([15, 30]);
});
