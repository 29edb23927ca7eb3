import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { connection } from './connection';

beforeEach(() => {
  vi.useFakeTimers();
  vi.stubGlobal('window', globalThis);
});

afterEach(() => {
  connection.reportReached();
  vi.useRealTimers();
  vi.unstubAllGlobals();
});

test('an outage is asked about with growing pauses, however often it is reported', async () => {
  const probe = vi.fn(() => Promise.resolve(false));
  connection.setProbe(probe);
  for (let report = 0; report < 50; report++) connection.reportLost();
  await vi.advanceTimersByTimeAsync(120_000);
  expect(connection.isLost()).toBe(true);
  expect(probe.mock.calls.length).toBeGreaterThan(2);
  expect(probe.mock.calls.length).toBeLessThan(10);
});

test('it ends with the first answer, and listeners hear both ends', async () => {
  const heard: boolean[] = [];
  const stop = connection.subscribe(() => heard.push(connection.isLost()));
  connection.setProbe(() => Promise.resolve(true));
  connection.reportLost();
  await vi.advanceTimersByTimeAsync(5_000);
  stop();
  expect(heard).toEqual([true, false]);
});
