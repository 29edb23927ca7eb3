import { expect, test } from 'vitest';
import { isOver } from './isOver';

test.each([
  ['previewed', false],
  ['approved', false],
  ['applying', false],
  ['verifying', false],
  ['applied', true],
  ['rolled_back', true],
  ['failed', true],
  ['aborted', true],
] as const)('a change that is %s is over: %s', (state, over) => {
  expect(isOver({ state })).toBe(over);
});
