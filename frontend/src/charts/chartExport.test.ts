import { expect, test } from 'vitest';
import { legendPlaces } from './chartExport';

test('a legend goes on in the next line where one is full, and a long name has a line to itself', () => {
  expect(legendPlaces([100, 100, 100], 250)).toEqual([
    { x: 0, line: 0 },
    { x: 100, line: 0 },
    { x: 0, line: 1 },
  ]);
  expect(legendPlaces([400, 50], 250)).toEqual([
    { x: 0, line: 0 },
    { x: 0, line: 1 },
  ]);
});
