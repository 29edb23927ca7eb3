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
