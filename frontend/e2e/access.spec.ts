import { expect, test } from './console';

test('a token is shown once, listed, revoked, and audited', async ({ page }) => {
  const name = `e2e token ${Date.now()}`;
  await page.goto('/access?tab=tokens');
  await page.getByRole('button', { name: 'New token' }).click();
  await page.getByRole('dialog').getByLabel('Name').fill(name);
  await page.getByRole('button', { name: 'Create' }).click();
  await expect(page.getByText('Copy it now: it is shown this once.')).toBeVisible();
  await page.getByRole('dialog').getByRole('button', { name: 'Close' }).last().click();
  await expect(page.getByRole('cell', { name, exact: true })).toBeVisible();
  await page.getByRole('button', { name: `Revoke token ${name}?` }).click();
  await page.getByRole('dialog').getByRole('button', { name: 'Revoke' }).click();
  await expect(page.getByRole('cell', { name, exact: true })).toBeHidden();
  await page.goto('/audit');
  await expect(page.getByRole('cell', { name }).first()).toBeVisible();
});

test('an access key shows its secret once, is disabled, enabled, and deleted', async ({ page }) => {
  const name = `e2e key ${Date.now()}`;
  await page.goto('/access?tab=keys');
  await page.getByRole('button', { name: 'New access key' }).click();
  await page.getByRole('dialog').getByLabel('Name').fill(name);
  await page.getByRole('button', { name: 'Create' }).click();
  await expect(page.getByText('Copy it now: it is shown this once.')).toBeVisible();
  await expect(page.getByRole('button', { name: 'Copy AccessKeySecret' })).toBeVisible();
  await page.getByRole('dialog').getByRole('button', { name: 'Close' }).click();

  const row = page.getByRole('row').filter({ hasText: name });
  await expect(row).toContainText('Active');
  await page.getByRole('button', { name: `Disable access key ${name}` }).click();
  await expect(row).toContainText('Inactive');
  await page.getByRole('button', { name: `Enable access key ${name}` }).click();
  await expect(row).toContainText('Active');
  await page.getByRole('button', { name: `Delete access key ${name}?` }).click();
  await page.getByRole('dialog').getByRole('button', { name: 'Delete' }).click();
  await expect(row).toBeHidden();
});
