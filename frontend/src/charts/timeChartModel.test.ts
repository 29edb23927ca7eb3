import { describe, expect, test } from 'vitest';
import { chartCsv } from './chartExport';
import { buildTimeChart, MAX_POINTS, thin, zoomRange, type Sample, type SeriesInput } from './timeChartModel';

function series(key: string, samples: Sample[]): SeriesInput {
  return { key, label: key, samples, color: 1 };
}

function minutes(count: number): Sample[] {
  return Array.from({ length: count }, (_, index) => [index * 60_000, index] as const);
}

describe('a time chart', () => {
  test('never draws more than its limit of points', () => {
    const model = buildTimeChart({
      series: [series('hits', minutes(12_345))],
      from: 0,
      to: 12_345 * 60_000,
      unit: 'rate',
    });
    expect(model.rows.length).toBeLessThanOrEqual(MAX_POINTS);
    expect(model.rows.length).toBeGreaterThan(MAX_POINTS / 2);
  });

  test('thins by means, and a bucket without values stays a gap', () => {
    expect(
      thin(
        [
          [0, 2],
          [1, 4],
          [2, null],
          [3, null],
        ],
        2,
      ),
    ).toEqual([
      [0, 3],
      [2, null],
    ]);
  });

  test('merges series by time, in order, and keeps gaps', () => {
    const model = buildTimeChart({
      series: [
        series('hits', [
          [2000, 5],
          [1000, null],
        ]),
        series('inserts', [[1000, 1]]),
      ],
      from: 0,
      to: 3000,
      unit: 'rate',
    });
    expect(model.rows).toEqual([
      { at: 1000, hits: null, inserts: 1 },
      { at: 2000, hits: 5 },
    ]);
  });

  test('shows annotations of its span only', () => {
    const annotations = [500, 5000].map((at) => ({ at, label: String(at) }));
    const model = buildTimeChart({ series: [], from: 0, to: 1000, unit: 'count', annotations });
    expect(model.annotations).toEqual([{ at: 500, label: '500' }]);
  });

  test('is empty when every value is missing', () => {
    expect(
      buildTimeChart({ series: [series('hits', [[0, null]])], from: 0, to: 1, unit: 'rate' }).isEmpty,
    ).toBe(true);
    expect(buildTimeChart({ series: [series('hits', [[0, 0]])], from: 0, to: 1, unit: 'rate' }).isEmpty).toBe(
      false,
    );
  });

  test('exports what it draws', () => {
    const model = buildTimeChart({
      series: [
        {
          ...series('hits', [
            [0, 1.5],
            [1000, null],
          ]),
          label: 'Hits, per second',
        },
      ],
      from: 0,
      to: 1000,
      unit: 'rate',
    });
    expect(chartCsv(model)).toBe(
      'time_utc,"Hits, per second"\n1970-01-01T00:00:00.000Z,1.5\n1970-01-01T00:00:01.000Z,\n',
    );
  });
});

test('a drag zooms in either direction, a twitch does not', () => {
  expect(zoomRange(800, 200, [0, 1000])).toEqual([200, 800]);
  expect(zoomRange(500, 505, [0, 1000])).toBeUndefined();
});
