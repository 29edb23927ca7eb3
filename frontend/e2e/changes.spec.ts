import { expectAccessible, expectToFitPhone } from './accessible';
import { expect, test } from './console';

// In how many ms the change of this test is due: later than any other change takes.
const DUE_IN_MS = 20_000;

test('a change set is accessible, and says what was done, by whom, and in which steps', async ({
  page,
  instances: [first],
}) => {
  const answer = await page.request.get(`/api/v1/instances/${first.id}/changes?limit=1`);
  const { items } = (await answer.json()) as { items: { id: string }[] };
  await page.goto(`/instances/${first.id}/changes/${items[0]?.id}`);
  await expect(page.getByRole('region', { name: 'Steps' })).toBeVisible();
  await expect(page.getByText('Created')).toBeVisible();
  // The first point in time on the page, in the format of the test browser's locale, en-GB, with UTC on hover.
  const moment = page.locator('time').first();
  await expect(moment).toHaveText(/^\d{1,2} [A-Z][a-z]{2,3} \d{4}, \d\d:\d\d/);
  await expect(moment).toHaveAttribute('title', /\d{4}-\d\d-\d\d \d\d:\d\d:\d\d UTC$/);
  await expectAccessible(page);
  await expectToFitPhone(page);
});

test('a change for later is listed, accessible while it waits, and given up', async ({
  page,
  instances: [first],
}) => {
  const set = encodeURIComponent(JSON.stringify({ wait_timeout: '28802' }));
  await page.goto(`/instances/${first.id}/parameters?set=${set}`);
  const review = page.getByRole('dialog');
  await expect(review.getByRole('button', { name: 'Apply now' })).toBeEnabled();
  await expectAccessible(page);
  await review.getByText('At a set time').click();
  await review.getByLabel('Note').fill('given up by a test');
  await review.getByRole('button', { name: 'Schedule' }).click();
  await expect(page.getByText(/Waiting until/)).toBeVisible();
  await expectAccessible(page);
  await page.getByRole('button', { name: 'Abort' }).click();
  await page.getByRole('dialog').getByRole('button', { name: 'Abort' }).click();
  await expect(page.getByText('aborted', { exact: true })).toBeVisible();
  await page.getByRole('tab', { name: 'History' }).click();
  await expect(page.getByRole('row').nth(1)).toContainText('aborted');
});

test('a change that is refused before its first step was not carried out', async ({
  page,
  api,
  instances: [first],
}) => {
  const later = await api.send<{ id: string }>('POST', `instances/${first.id}/changes`, {
    parameters: { wait_timeout: '28803' },
    apply: true,
    when: 'at',
    at: new Date(Date.now() + DUE_IN_MS).toISOString(),
  });
  await api.change(first.id, 'changes', { parameters: { interactive_timeout: '28803' } });
  await page.goto(`/instances/${first.id}/changes/${later.id}`);
  await expect(page.getByText('not started', { exact: true })).toBeVisible();
  await expect(page.getByText('The instance has changed since the preview')).toBeVisible();
  await expect(page.getByText('rolled back')).toBeHidden();
  await page.getByRole('tab', { name: 'History' }).click();
  const rows = page.getByRole('row');
  await expect(rows.filter({ hasText: 'not started' }).first()).toBeVisible();
  await api.change(first.id, 'changes', { parameters: { interactive_timeout: null } });
});

test('what does not exist says so, with the way back', async ({ page, instances: [first] }) => {
  await page.goto('/instances/rm-never-was/overview');
  await expect(page.getByRole('alert')).toContainText('There is no instance rm-never-was');
  await expectAccessible(page);
  await page.locator('main').getByRole('link', { name: 'Fleet' }).click();
  await expect(page).toHaveURL(/\/fleet$/);
  await page.goto(`/instances/${first.id}/changes/never-was`);
  await expect(page.getByRole('alert')).toContainText('Request');
  await page.goto('/fleet-applies/never-was');
  await expect(page.getByRole('alert')).toContainText('Request');
  await page.locator('main').getByRole('link', { name: 'Apply to many' }).click();
  await expect(page).toHaveURL(/\/templates\/apply$/);
});
