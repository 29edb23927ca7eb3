// Keys that work on every page.
import { expectAccessible } from './accessible';
import { expect, test } from './console';

test('Ctrl-K finds an instance, a page and an action, by keys alone', async ({
  page,
  instances: [first],
}) => {
  await page.goto('/fleet');
  await expect(page.getByRole('link', { name: first.name })).toBeVisible();
  await page.keyboard.press('Control+k');
  const field = page.getByRole('combobox', { name: 'Command palette' });
  await field.fill(first.name);
  await expect(page.getByRole('option', { name: first.name })).toHaveAttribute('aria-selected', 'true');
  await expectAccessible(page);
  await page.keyboard.press('Enter');
  await expect(page).toHaveURL(new RegExp(`/instances/${first.id}/overview`));

  await page.keyboard.press('Control+k');
  await field.fill('parameters this');
  await page.keyboard.press('Enter');
  await expect(page).toHaveURL(/\/parameters$/);

  await page.keyboard.press('Control+k');
  await field.fill('add instance');
  await page.keyboard.press('Enter');
  await expect(page.getByRole('dialog', { name: 'Add an instance' })).toBeVisible();
});

test('/ is the search of the page, ? lists the keys, and neither is taken from a text', async ({ page }) => {
  await page.goto('/fleet');
  const search = page.getByLabel('Search name or host');
  await expect(search).toBeVisible();
  await page.keyboard.press('/');
  await expect(search).toBeFocused();
  await page.keyboard.type('a/b?');
  await expect(search).toHaveValue('a/b?');
  await search.blur();
  await page.keyboard.press('?');
  await expect(page.getByRole('dialog', { name: 'Keyboard shortcuts' })).toBeVisible();
  await expectAccessible(page);
});
