import { expect, test } from 'vitest';
import { fileNameOf, legendPlaces, marksOf } from './chartExport';

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

test('a picture says of each kind of mark when it was, or how many there are', () => {
  const annotations = [
    { at: 5, label: 'Parameters' },
    { at: 7, label: 'Restart' },
    { at: 9, label: 'Parameters' },
  ];
  expect(marksOf(annotations, (at) => `00:0${at}`)).toEqual(['Parameters × 2', 'Restart, 00:07']);
  expect(marksOf([], String)).toEqual([]);
});

test('a file is named after the instance and the chart', () => {
  expect(fileNameOf('demo-1', 'Hits, and reads that reached the server')).toBe(
    'demo-1-hits-and-reads-that-reached-the-server',
  );
  expect(fileNameOf('shop/eu', '命中率')).toBe('shop-eu-命中率');
  expect(fileNameOf('…')).toBe('chart');
});
