// A real server with an application that really reads: what the cache does shows up in the console by itself.
import { whileReading } from './fleet';
import { expect, test } from './console';
import { stack } from './session';

test.afterEach(async ({ api, instances: [first] }) => {
  await api.change(first.id, 'cache/disable');
});

test('after enabling in the guided flow the first hits arrive by themselves', async ({
  page,
  api,
  instances: [first],
}) => {
  // Counters of a server begin with it.
  await api.change(first.id, 'restart');
  await page.goto(`/instances/${first.id}/cache?step=3`);
  await page.getByRole('button', { name: 'Enable Fast Query Cache' }).click();
  await expect(page.getByRole('region', { name: 'Enable the cache' })).toContainText('applied');
  const hits = page.getByRole('group', { name: 'Hits since start' });
  await expect(hits).toContainText('waiting for the first hit');

  await whileReading(stack.server(first.id), async () => {
    await expect(hits).not.toContainText('waiting for the first hit');
    await expect(hits).toContainText(/[1-9]/);
    await expect(page.getByRole('group', { name: 'Hits per second' })).toContainText(/[1-9].*\/s/);
    await expect(page.getByRole('group', { name: 'Results kept' })).toContainText(/[1-9]/);
  });
});
