// An address alone restores the state of a page.
import { expect, test } from './console';

test('an address restores the filters of the fleet', async ({ page, instances: [first, second] }) => {
  await page.goto(`/fleet?state=running&search=${first.name}`);
  const rows = page.getByRole('table', { name: 'Instances' });
  await expect(page.getByLabel('Search name or host')).toHaveValue(first.name);
  await expect(page.getByRole('combobox', { name: 'State' })).toHaveValue('running');
  await expect(rows.getByRole('link', { name: first.name })).toBeVisible();
  await expect(rows.getByRole('link', { name: second.name })).toBeHidden();
  await page.goto('/fleet?state=stopped');
  await expect(page.getByText('No instance matches')).toBeVisible();
});

test('an address restores the filters of parameters', async ({ page, instances: [first] }) => {
  await page.goto(`/instances/${first.id}/parameters?filter=cache&search=wlock`);
  await expect(page.getByRole('radio', { name: /^Cache/ })).toBeChecked();
  await expect(page.getByPlaceholder('Search name or description')).toHaveValue('wlock');
  await expect(page.getByText('query_cache_wlock_invalidate', { exact: true })).toBeVisible();
  await expect(page.getByText('query_cache_size', { exact: true })).toBeHidden();
});

test('an address restores the filters of the audit and the event that was open', async ({ page }) => {
  await page.goto('/audit?action=login.succeeded');
  await expect(page.getByLabel('Action')).toHaveValue('login.succeeded');
  const events = page.getByRole('table', { name: 'Audit' });
  await expect(events.getByText('login.succeeded').first()).toBeVisible();
  await expect(events.getByText(/^change\./)).toBeHidden();
  await events.getByRole('button').first().click();
  await expect(page).toHaveURL(/event=/);
  await page.reload();
  await expect(page.getByRole('dialog')).toBeVisible();
  await expect(page.getByLabel('Action')).toHaveValue('login.succeeded');
});

test('an address restores the days of the audit, and its export begins with them', async ({ page }) => {
  await page.goto('/audit?from=2020-01-01&to=2020-01-02');
  await expect(page.getByText('No events match')).toBeVisible();
  await page.getByRole('button', { name: 'Export' }).click();
  await expect(page.getByRole('dialog').getByLabel('From')).toHaveValue('2020-01-01');
  await page.keyboard.press('Escape');
  await page.getByRole('search').getByLabel('To', { exact: true }).fill('');
  await expect(page).not.toHaveURL(/to=/);
  await expect(page.getByRole('table', { name: 'Audit' }).getByRole('cell').first()).toBeVisible();
});

test('an address restores the order of statements and the span of charts', async ({
  page,
  instances: [first],
}) => {
  await page.goto(`/instances/${first.id}/queries?by=waste`);
  await expect(page.getByRole('radio', { name: 'By waste' })).toBeChecked();
  await page.goto(`/instances/${first.id}/monitoring?range=6h&live=true`);
  await expect(page.getByRole('radio', { name: '6 h' })).toBeChecked();
  await expect(page.getByRole('button', { name: 'Live' })).toHaveAttribute('aria-pressed', 'true');
});

test('an address restores which incidents are shown', async ({ page }) => {
  await page.goto('/alerts?show=all');
  await expect(page.getByRole('radio', { name: 'All', exact: true })).toBeChecked();
});

test('a link to a page above the present one looks like any other', async ({ page }) => {
  await page.goto('/templates/apply');
  const above = page.getByRole('main').getByRole('link', { name: 'Templates' });
  await expect(above).toHaveCSS('text-decoration-line', 'none');
  await page.goto('/fleet');
  const other = page.getByRole('table', { name: 'Instances' }).getByRole('link').first();
  const color = await other.evaluate((element) => getComputedStyle(element).color);
  await page.goto('/templates/apply');
  await expect(above).toHaveCSS('color', color);
});
