import { expect, test } from './console';

test('a rule shows where it would have fired, is kept, and removed', async ({ page }) => {
  const name = `e2e rule ${Date.now()}`;
  await page.goto('/alerts?tab=rules');
  await page.getByRole('button', { name: 'New rule' }).click();
  const form = page.getByRole('dialog');
  await form.getByLabel('Name').fill(name);
  await expect(form.getByText(/Would have fired \d+ times? in the past \d+ h/)).toBeVisible();
  await form.getByRole('button', { name: 'Save' }).click();
  await expect(page.getByRole('cell', { name, exact: true })).toBeVisible();
  await page.getByRole('button', { name: `Delete rule ${name}?` }).click();
  await page.getByRole('dialog').getByRole('button', { name: 'Delete' }).click();
  await expect(page.getByRole('cell', { name, exact: true })).toBeHidden();
});
