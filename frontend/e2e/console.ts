// The `test` of every spec: pages open on the stack, and its first two instances are at hand.
import { test as base, type APIRequestContext } from '@playwright/test';
import { stack } from './session';

export interface Instance {
  id: string;
  name: string;
}

async function instancesOf(api: APIRequestContext): Promise<[Instance, Instance]> {
  const answer = (await (await api.get('/api/v1/instances?limit=10')).json()) as { items: Instance[] };
  const [first, second] = answer.items;
  if (!first || !second) throw new Error('The tests need a stack with at least two instances.');
  return [first, second];
}

export const test = base.extend<{ instances: [Instance, Instance] }>({
  baseURL: async ({}, use) => use(stack.url()),
  instances: async ({ request }, use) => use(await instancesOf(request)),
});

export { expect } from '@playwright/test';
