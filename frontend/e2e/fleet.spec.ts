import { expectToFitPhone } from './accessible';
import { expect, test } from './console';

test('filters live in the address', async ({ page, instances: [first, second] }) => {
  await page.goto('/fleet');
  const rows = page.getByRole('table', { name: 'Instances' });
  await expect(rows.getByRole('link', { name: first.name })).toBeVisible();
  await page.getByLabel('Search name or host').fill(second.name);
  await expect(page).toHaveURL(new RegExp(`search=${second.name}`));
  await expect(rows.getByRole('link', { name: first.name })).toBeHidden();
  await page.reload();
  await expect(page.getByLabel('Search name or host')).toHaveValue(second.name);
  await expect(rows.getByRole('link', { name: second.name })).toBeVisible();
  await page.getByRole('button', { name: 'Clear filters' }).click();
  await expect(rows.getByRole('link', { name: first.name })).toBeVisible();
});

test('a selection is carried to applying a template, or the one that enables the cache', async ({
  page,
  instances: [first, second],
}) => {
  for (const [link, template] of [
    ['Apply a template', ''],
    ['Enable the cache on 2', 'fast-query-cache-on'],
  ] as const) {
    await page.goto('/fleet');
    await page.getByLabel(`Select ${first.name}`).check();
    await page.getByLabel(`Select ${second.name}`).check();
    await page.getByRole('link', { name: link }).click();
    await expect(page.getByLabel('IDs or names, one per line')).toHaveValue(`${first.name}\n${second.name}`);
    await expect(page.getByRole('combobox', { name: 'Template' })).toHaveValue(template);
  }
  await page.getByRole('button', { name: 'Preview', exact: true }).click();
  await expect(page.getByRole('row').filter({ hasText: second.name })).toContainText('query_cache_size');
});

test('on a phone a finger meets what it aims at', async ({ page, instances: [first] }) => {
  await page.setViewportSize({ width: 390, height: 844 });
  await page.goto('/fleet');
  await expect(page.getByRole('link', { name: first.name })).toBeVisible();
  const small = await page
    .locator('a, button, input, [role=switch]')
    .evaluateAll((nodes) =>
      nodes
        .map((node) => ({ html: node.outerHTML.slice(0, 120), ...node.getBoundingClientRect().toJSON() }))
        .filter(({ width, height }) => width > 1 && height > 1 && Math.min(width, height) < 24),
    );
  expect(small).toEqual([]);
  await expectToFitPhone(page);
});

test('a page that does not exist says so', async ({ page }) => {
  await page.goto('/nowhere/at-all');
  await expect(page.getByText('Page not found')).toBeVisible();
});
