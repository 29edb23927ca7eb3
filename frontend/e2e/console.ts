// The `test` of every spec: the stack's first two instances and its API are at hand.
import { test as base, type APIRequestContext } from '@playwright/test';
import { Api } from './fleet';

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

export const test = base.extend<{ instances: [Instance, Instance]; api: Api }>({
  instances: async ({ request }, provide) => provide(await instancesOf(request)),
  api: async ({ request }, provide) => provide(new Api(request)),
});

export { expect } from '@playwright/test';
