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

type Restore = (api: Api) => Promise<unknown>;

interface Fixtures {
  /** The two instances of the worker. */
  instances: [Instance, Instance];
  /** The API as the administrator. */
  api: Api;
  /**
   * Registers what restores the stack after the test, also if the test fails; the last one registered runs first. Tests
   * use this, not `afterEach`, which Playwright also calls after a test that was skipped before its `beforeEach`.
   */
  afterwards: (restore: Restore) => void;
  begun: undefined;
}

export const test = base.extend<Fixtures>({
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
  afterwards: async ({ api }, provide) => {
    const registered: Restore[] = [];
    await provide((restore) => void registered.unshift(restore));
    const failures: unknown[] = [];
    for (const restore of registered) await restore(api).catch((error: unknown) => failures.push(error));
    if (failures.length > 0) throw failures[0];
  },
});

export { expect } from '@playwright/test';
