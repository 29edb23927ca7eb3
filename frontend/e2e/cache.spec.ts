import { expect, test } from './console';

test('the cache is enabled in the guided flow, watched, and disabled', async ({
  page,
  instances: [, second],
}) => {
  await page.goto(`/instances/${second.id}/cache`);
  await expect(page.getByText('the dedicated proxy is disabled')).toBeVisible();
  await page.getByRole('button', { name: 'Next' }).click();

  await page.getByLabel('Cache size').fill('16 MiB');
  await expect(page.getByLabel('A size of your own')).toBeChecked();
  await page.reload();
  await expect(page.getByLabel('Cache size')).toHaveValue('16 MiB');
  await expect(page.getByLabel('A size of your own')).toBeChecked();
  await page.getByRole('button', { name: 'Next' }).click();
  await page.getByRole('button', { name: 'Next' }).click();

  await expect(page.getByText('query_cache_size').first()).toBeVisible();
  await expect(page.getByText('16777216').first()).toBeVisible();
  await page.getByRole('button', { name: 'Enable Fast Query Cache' }).click();

  // What was started stays on top of the page, whatever the page below it becomes.
  await expect(page.getByRole('region', { name: 'Enable the cache' })).toContainText('applied');
  await expect(page.getByRole('group', { name: 'Hits since start' })).toBeVisible();
  await expect(page.getByRole('group', { name: 'Cache size' })).toContainText('16 MiB');

  await page.getByRole('button', { name: 'Disable' }).click();
  await page.getByRole('dialog').getByRole('button', { name: 'Disable' }).click();
  await expect(page.getByRole('region', { name: 'Disable the cache' })).toContainText('applied');
  await expect(page.getByRole('region', { name: 'Enable Fast Query Cache' })).toBeVisible();

  await page.getByRole('tab', { name: 'History' }).click();
  const [newest, before] = [page.getByRole('row').nth(1), page.getByRole('row').nth(2)];
  await expect(newest).toContainText('Disable the cache');
  await expect(newest).toContainText('applied');
  await expect(before).toContainText('Enable the cache');
  await expect(before).toContainText('applied');
});

test('what was enabled is told also when the server is faster than the answer', async ({
  page,
  instances: [, second],
}) => {
  // The answer is held back until the page has seen the cache switched on, and shows another part of itself.
  const hits = page.getByRole('group', { name: 'Hits since start' });
  await page.route('**/cache/enable', async (route) => {
    const answer = await route.fetch();
    await hits.waitFor();
    await route.fulfill({ response: answer });
  });
  await page.goto(`/instances/${second.id}/cache?step=3`);
  await page.getByRole('button', { name: 'Enable Fast Query Cache' }).click();
  await expect(hits).toBeVisible();
  await expect(page.getByRole('region', { name: 'Enable the cache' })).toContainText('applied');
  await page.getByRole('button', { name: 'Disable' }).click();
  await page.getByRole('dialog').getByRole('button', { name: 'Disable' }).click();
  await expect(page.getByRole('region', { name: 'Disable the cache' })).toContainText('applied');
});
