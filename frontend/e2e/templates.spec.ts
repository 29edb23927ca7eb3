import { expect, test } from './console';

test('a template is written, versioned, compared, applied to many, and deleted', async ({
  page,
  instances: [first, second],
}) => {
  const name = `e2e-${Date.now()}`;
  const timeout = String(3600 + (Date.now() % 3600));
  await page.goto('/templates');
  await page.getByRole('button', { name: 'New template' }).click();
  await page.getByRole('dialog').getByLabel('Name').fill(name);
  await page.getByRole('button', { name: 'Create' }).click();
  await expect(page.getByRole('heading', { level: 1 })).toHaveText(name);

  await page.getByRole('button', { name: 'Edit' }).click();
  await page.getByRole('button', { name: 'Add parameter' }).click();
  await page.getByPlaceholder('Parameter').fill('wait_timeout');
  await page.getByPlaceholder('Value').fill(timeout);
  await page.getByRole('button', { name: 'Save as new version' }).click();
  await expect(page.getByText('version 2')).toBeVisible();
  await expect(page.getByRole('cell', { name: 'wait_timeout' })).toBeVisible();

  await page.getByRole('link', { name: 'compare', exact: true }).click();
  await expect(page.getByText('only in this')).toBeVisible();

  await page.getByRole('link', { name: 'Apply to instances' }).click();
  await page.getByLabel('IDs or names, one per line').fill(`${first.name}\n${second.name}`);
  await page.getByRole('button', { name: 'Preview', exact: true }).click();
  await expect(page.getByText('2 would change')).toBeVisible();
  await page.getByRole('button', { name: 'Apply to 2 instances' }).click();
  await expect(page).toHaveURL(/\/fleet-applies\//);
  // The address changes before the page does. Until then the list of earlier changes is shown, which have ended.
  await expect(page.getByRole('heading', { level: 1 })).toContainText(name);
  await expect(page.getByText('done', { exact: true })).toBeVisible();

  await page.goto('/templates');
  await page.getByRole('link', { name }).click();
  const uses = page.getByRole('region', { name: 'Instances using it' });
  await expect(uses).toContainText(first.name);
  await expect(uses).toContainText(second.name);
  await expect(uses.getByText('matches the template')).toHaveCount(2);
  await page.getByRole('button', { name: 'Delete' }).click();
  await page.getByRole('dialog').getByRole('button', { name: 'Delete' }).click();
  await expect(page).toHaveURL(/\/templates$/);
  await expect(page.getByRole('link', { name })).toBeHidden();
});

test('while an apply is being started it can be given up', async ({ page, api, instances: [first] }) => {
  const { id } = await api.send<{ id: string }>('POST', 'fleet-applies', {
    template: 'tpl-57-cache-on',
    instances: [first.id],
    start: false,
  });
  await page.route('**/start', () => undefined);
  await page.goto(`/fleet-applies/${id}`);
  await page.getByRole('button', { name: 'Start' }).click();
  await page.getByRole('button', { name: 'Abort' }).click();
  await expect(page.getByText('aborted', { exact: true }).first()).toBeVisible();
});
