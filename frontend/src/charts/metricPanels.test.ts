import { expect, test } from 'vitest';
import { shiftedInTime, type MetricAnswer } from './metricPanels';

function answer(times: number[], values: (number | null)[]): MetricAnswer {
  const series = [{ name: 'hits_per_second', title: 'Hits', unit: 'per second', formula: '', values }];
  return { times, step_seconds: 60, series } as unknown as MetricAnswer;
}

test('the period before is drawn at the times of this one, and its gaps stay gaps', () => {
  const earlier = answer([0, 60, 120], [1, null, 3]);
  const later = answer([180, 240, 300, 360], [4, 5, 6, 7]);
  const found = shiftedInTime(earlier, later, 180_000);
  expect(found.times).toEqual(later.times);
  expect(found.series[0]?.values).toEqual([1, null, 3, null]);
});

test('periods whose steps do not meet are drawn at the nearest one', () => {
  const earlier = answer([0, 60], [1, 2]);
  expect(shiftedInTime(earlier, answer([120, 180], [0, 0]), 100_000).series[0]?.values).toEqual([1, 2]);
});
