import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { coalesced } from './coalesced';

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

test('the first is asked for at once; what comes before its answer is asked for once, together, after it', async () => {
  const asked: string[][] = [];
  const answers: (() => void)[] = [];
  const tell = coalesced<string>((things) => {
    asked.push([...things]);
    return new Promise<void>((resolve) => answers.push(resolve));
  }, 500);
  tell(['instance']);
  expect(asked).toEqual([['instance']]);
  for (let event = 0; event < 1000; event++) tell(['instance', 'change']);
  await vi.advanceTimersByTimeAsync(60_000);
  expect(asked).toHaveLength(1);
  answers[0]?.();
  await vi.advanceTimersByTimeAsync(499);
  expect(asked).toHaveLength(1);
  await vi.advanceTimersByTimeAsync(1);
  expect(asked).toEqual([['instance'], ['instance', 'change']]);
});

test('a question that failed does not end the asking', async () => {
  const ask = vi.fn(() => Promise.reject(new Error('refused')));
  const tell = coalesced<string>(ask, 500);
  tell(['incident']);
  await vi.advanceTimersByTimeAsync(500);
  tell(['incident']);
  expect(ask).toHaveBeenCalledTimes(2);
});
