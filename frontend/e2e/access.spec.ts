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

test('a user is added, given another role, and deleted', async ({ page }) => {
  const name = `e2e-user-${Date.now()}`;
  const form = page.getByRole('dialog');
  const row = page.getByRole('row').filter({ hasText: name });
  await page.goto('/access?tab=users');
  await page.getByRole('button', { name: 'Add user' }).click();
  await form.getByLabel('User', { exact: false }).first().fill(name);
  await form
    .getByLabel(/^Password/)
    .first()
    .fill('short');
  await form.getByRole('button', { name: 'Create' }).click();
  // Refused, and kept.
  await expect(form.getByRole('alert')).toBeVisible();
  await expect(form.getByLabel('User', { exact: false }).first()).toHaveValue(name);
  await form
    .getByLabel(/^Password/)
    .first()
    .fill('a password of some length');
  await form.getByRole('button', { name: 'Create' }).click();
  await expect(row).toContainText('viewer');
  await page.getByRole('button', { name: `Edit ${name}` }).click();
  await form.getByRole('combobox', { name: 'Role' }).click();
  await page.getByRole('option', { name: /^operator/ }).click();
  await form.getByRole('button', { name: 'Save' }).click();
  await expect(row).toContainText('operator');
  await page.getByRole('button', { name: `Delete user ${name}?` }).click();
  await form.getByRole('button', { name: 'Delete' }).click();
  await expect(row).toBeHidden();
});
