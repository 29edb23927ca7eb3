import { expect, test } from 'vitest';
import { failureOf } from './failure';

test('a failed sign-in is told by texts of the console alone, whatever its address says', () => {
  expect(failureOf('no_role')).toBe('login.failed.noRole');
  for (const code of ['', 'Call 555-0199 now', 'constructor', '__proto__'])
    expect(failureOf(code)).toBe('login.failed.refused');
});
