import { expect, test } from 'vitest';
import { actionsOf } from './actionsOf';

type Facts = Parameters<typeof actionsOf>[0];

function change(facts: Partial<Facts>): Facts {
  return { state: 'previewed', kind: 'parameters', when: 'now', is_abort_requested: false, ...facts };
}

test.each<[Partial<Facts>, string[]]>([
  [{ state: 'previewed' }, ['approve', 'abort']],
  [{ state: 'approved', when: 'window' }, ['apply', 'abort']],
  [{ state: 'applying' }, ['abort']],
  [{ state: 'applying', is_abort_requested: true }, []],
  [{ state: 'applied' }, ['rollback']],
  [{ state: 'applied', kind: 'restart' }, []],
  [{ state: 'failed' }, []],
])('%o offers %s', (facts, actions) => {
  expect(actionsOf(change(facts))).toEqual(actions);
});
