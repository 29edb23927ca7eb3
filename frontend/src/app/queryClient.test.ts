import { expect, test } from 'vitest';
import { ApiError } from '@/api/errors';
import { queryClient } from './queryClient';

test('what a busy server has not begun is asked again a few times, and a refusal is not', () => {
  const { queries, mutations } = queryClient.getDefaultOptions();
  for (const retry of [queries?.retry, mutations?.retry]) {
    if (typeof retry !== 'function') throw new Error('there is no rule');
    const busy = new ApiError(429, { code: 'busy' });
    expect([0, 1, 2, 3].map((failures) => retry(failures, busy))).toEqual([true, true, true, false]);
    expect(retry(0, new ApiError(429, { code: 'rate_limited' }))).toBe(false);
  }
});
