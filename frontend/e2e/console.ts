// The `test` of every spec. Its fixtures are two instances of the worker's own and the API of the stack.
import { test as base } from '@playwright/test';
import { Api } from './fleet';
import { stack } from './session';

export interface Instance {
  id: string;
  name: string;
}

/** The two instances of this test worker, which no other worker uses. Fails if the stack has too few. */
function instancesOf(worker: number): [Instance, Instance] {
  const [first, second] = stack.servers().slice(2 * worker);
  if (!first || !second) throw new Error('The tests need two instances for each worker.');
  return [first, second];
}

/**
 * The time (seconds since 1970) after which no further test starts, for machines too slow for all tests. See
 * backend/testing/late.py.
 */
const END = Number(process.env.FQC_TEST_END ?? Infinity);

/** Playwright's `test` with `instances`, the two instances of the worker, and `api`, the API as the administrator. */
export const test = base.extend<{ instances: [Instance, Instance]; api: Api; begun: undefined }>({
  begun: [
    // eslint-disable-next-line no-empty-pattern -- Playwright reads from it what a fixture needs
    async ({}, provide, test) => {
      test.skip(Date.now() / 1000 > END, 'no time was left');
      await provide(undefined);
    },
    { auto: true },
  ],
  // eslint-disable-next-line no-empty-pattern -- Playwright reads from it what a fixture needs
  instances: async ({}, provide, { parallelIndex }) => provide(instancesOf(parallelIndex)),
  api: async ({ request }, provide) => provide(new Api(request)),
});

export { expect } from '@playwright/test';
