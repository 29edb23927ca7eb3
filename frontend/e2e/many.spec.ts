import { addCrowd, COUNT, removeCrowd, RUN_DIR } from './crowd';
import { expect, test } from './console';

test.skip(!RUN_DIR, 'FQC_E2E_RUN_DIR does not say where the stack runs.');

test.beforeEach(({ afterwards }) => afterwards(removeCrowd));

test('of a table of 10 000 instances only the rows in view exist, wherever it is scrolled and however sorted', async ({
  page,
}) => {
  await addCrowd();
  await page.goto('/fleet?search=crowd-');
  const table = page.getByRole('table', { name: 'Instances' });
  const scroller = table.locator('xpath=..');
  const drawn = table.locator('tbody tr');
  const end = table.getByRole('link', { name: 'crowd-09999' });
  await expect(table.getByRole('link', { name: 'crowd-00000' })).toBeVisible();
  await expect(async () => {
    await scroller.evaluate((element) => element.scrollTo(0, element.scrollHeight));
    expect(await drawn.count()).toBeLessThan(100);
    await expect(end).toBeVisible({ timeout: 50 });
  }).toPass({ intervals: [0] });
  await expect(table).toHaveAttribute('aria-rowcount', String(COUNT + 1));

  await scroller.evaluate((element) => element.scrollTo(0, element.scrollHeight / 2));
  await expect(table.getByRole('link', { name: /^crowd-0[45]\d\d\d$/ }).first()).toBeVisible();
  await expect(end).toBeHidden();
  await page.getByRole('checkbox', { name: 'Select all' }).check();
  await expect(page.getByText('10,000 instances selected')).toBeVisible();
  expect(await drawn.count()).toBeLessThan(100);
});
