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

test('a rule of all instances is overridden for one of them', async ({ page, instances: [first] }) => {
  const name = `e2e override ${Date.now()}`;
  await page.goto('/alerts?tab=rules');
  await page.getByRole('button', { name: 'New rule' }).click();
  await page.getByRole('dialog').getByLabel('Name').fill(name);
  await page.getByRole('dialog').getByRole('button', { name: 'Save' }).click();
  await expect(page.getByRole('cell', { name, exact: true })).toBeVisible();

  await page.goto(`/instances/${first.id}/alerts`);
  const row = page.getByRole('row').filter({ hasText: name });
  await page.getByRole('button', { name: `Override ${name} here` }).click();
  await page.getByRole('dialog').getByLabel('Threshold of its own').fill('7');
  await page.getByRole('dialog').getByRole('button', { name: 'Save' }).click();
  await expect(row).toContainText('below 7 %');
  await expect(row).toContainText('overridden');

  await page.goto('/alerts?tab=rules');
  await expect(row).toContainText('1 override');
  await page.getByRole('button', { name: `Delete rule ${name}?` }).click();
  await page.getByRole('dialog').getByRole('button', { name: 'Delete' }).click();
  await expect(row).toBeHidden();
});
