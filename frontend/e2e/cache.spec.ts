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
  await page.getByRole('button', { name: 'Next' }).click();
  await page.getByRole('button', { name: 'Next' }).click();

  await expect(page.getByText('query_cache_size').first()).toBeVisible();
  await expect(page.getByText('16777216').first()).toBeVisible();
  await page.getByRole('button', { name: 'Enable Fast Query Cache' }).click();

  await expect(page.getByRole('group', { name: 'Hits since start' })).toBeVisible({ timeout: 40_000 });
  await expect(page.getByRole('group', { name: 'Cache size' })).toContainText('16 MiB', { timeout: 40_000 });

  await page.getByRole('button', { name: 'Disable' }).click();
  await page.getByRole('dialog').getByRole('button', { name: 'Disable' }).click();
  await expect(page.getByText('Enable Fast Query Cache').first()).toBeVisible({ timeout: 40_000 });
});
