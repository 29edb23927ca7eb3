// One template applied to many instances. They are many names of two servers: as many steps as with many servers.
import { expect, test } from './console';
import { runOn, type Api } from './fleet';
import { mayChange, stack } from './session';

// The number of instances: more than are done while a slow browser is between two clicks, but few enough for the
// connections of two servers.
const MANY = 48;
const AT_ONCE = 8;
const stamp = `${Date.now()}`;
const template = `many-${stamp}`;

interface Counted {
  counts: Record<string, number>;
}

interface Named {
  id: string;
  name: string;
}

interface Parameters {
  items: { name: string; running: string }[];
}

test.beforeEach(async ({ api, afterwards, instances }) => {
  // The servers' own instances would show drift if the value stayed.
  for (const { id } of instances) {
    const { items } = await api.get<Parameters>(`instances/${id}/parameters`);
    const former = items.find(({ name }) => name === 'wait_timeout')?.running ?? 'DEFAULT';
    afterwards(() => runOn(stack.server(id), `SET GLOBAL wait_timeout = ${former}`));
  }
  afterwards(remove);
  await api.send('POST', 'templates', { name: template, values: { wait_timeout: '27182' } });
  const register = (number: number) => {
    const server = stack.server(instances[number % 2 ? 0 : 1].id);
    const { host, port } = server;
    const facts = { name: `${template}-${number}`, provider: 'external', instance_class: 'fqc.n1.small' };
    const tags = { run: stamp };
    return api.send('POST', 'instances', { ...facts, host, port, ...mayChange(server), tags });
  };
  for (let number = 1; number <= MANY; number += AT_ONCE)
    await Promise.all(Array.from({ length: AT_ONCE }, (_, more) => register(number + more)));
});

/** Removes the instances that a test registered. */
async function remove(api: Api): Promise<void> {
  const { items } = await api.get<{ items: Named[] }>(`instances?search=${template}&limit=100`);
  for (let from = 0; from < items.length; from += AT_ONCE)
    await Promise.all(
      items.slice(from, from + AT_ONCE).map(({ id }) => api.send('DELETE', `instances/${id}`)),
    );
}

test('many instances are followed live; what has not begun is paused, resumed and given up', async ({
  page,
  api,
}) => {
  await page.goto('/templates/apply');
  await page.getByRole('combobox', { name: 'Template' }).fill(template);
  await page.getByRole('option', { name: template }).click();
  await page.getByText('By tag', { exact: true }).click();
  await page.getByRole('textbox', { name: 'Tags' }).fill(`run:${stamp}`);
  await page.getByRole('button', { name: 'Preview', exact: true }).click();
  await expect(page.getByText(`${MANY} would change`)).toBeVisible();
  await page.getByLabel('Instances at a time').fill('1');
  await page.getByRole('button', { name: `Apply to ${MANY} instances` }).click();
  await expect(page).toHaveURL(/\/fleet-applies\//);

  const counts = page.getByRole('status').first();
  const shown = async (state: string) => {
    const [told] = await counts.getByRole('listitem').filter({ hasText: state }).allTextContents();
    return Number(told?.replace(state, '') ?? 0);
  };
  // The identifier of the fleet apply, for the API, whose counts are newer than those of the page.
  const id = new URL(page.url()).pathname.split('/').at(-1);
  const done = async () => (await api.get<Counted>(`fleet-applies/${id}`)).counts.applied ?? 0;
  // Looks every 50 ms: with the default interval of up to a second, all instances could be done before the next look.
  const often = { intervals: [50] };
  await expect.poll(done, often).toBeGreaterThan(0);
  await page.getByRole('button', { name: 'Pause' }).click();
  await expect(page.getByText('paused', { exact: true })).toBeVisible();
  // Running steps end; then nothing moves.
  await expect(counts.getByText('applied')).toBeVisible();
  await expect(counts.getByText(/running|starting/)).toBeHidden();
  const [applied, waiting] = [await shown('applied'), await shown('waiting')];
  expect(applied + waiting).toBe(MANY);
  expect(waiting).toBeGreaterThan(1);

  await page.getByRole('button', { name: 'Resume' }).click();
  // Abort before the last instances are done.
  await expect.poll(done, often).toBeGreaterThan(applied);
  await page.getByRole('button', { name: 'Abort' }).click();
  await expect(page.getByText('aborted', { exact: true }).first()).toBeVisible();
  await expect(counts.getByText('skipped')).toBeVisible();
  await expect(counts.getByText(/waiting|running|starting/)).toBeHidden();
  expect(await shown('skipped')).toBeLessThanOrEqual(waiting);
});
