// What pages show while their requests are pending, and after these are refused, at the width of a phone.
import type { Page } from '@playwright/test';
import { expectAccessible } from './accessible';
import { PAGES } from './addresses';
import { expect, test } from './console';
import { refusal, refuse } from './refusal';

const ALL: typeof PAGES = {
  ...PAGES,
  change: ({ id }) => `/instances/${id}/changes/of-a-test`,
  'fleet apply': () => '/fleet-applies/of-a-test',
};

/** True for requests to the API, except the one for the session, without which no page is shown. */
const isAsked = ({ pathname }: URL) => pathname.startsWith('/api/') && pathname !== '/api/v1/auth/session';

test.describe.configure({ mode: 'parallel' });
test.use({ viewport: { width: 390, height: 844 } });

async function expectFrame(page: Page): Promise<void> {
  await expect(page.getByRole('heading', { level: 1 })).toHaveText(/\S/);
  expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBeLessThanOrEqual(390);
}

for (const [name, pathOf] of Object.entries(ALL)) {
  test(`${name}: says what it is while it loads, then why it cannot be shown`, async ({
    page,
    instances: [first],
  }) => {
    let answer = () => {};
    const after = new Promise<void>((resolve) => (answer = resolve));
    await refuse(page, isAsked, { after });
    await page.goto(pathOf(first));
    await expect(page.locator('main [aria-busy="true"]').first()).toBeVisible();
    await expectFrame(page);
    await expect(page.getByText('–', { exact: true })).toHaveCount(0);

    answer();
    const told = page.getByRole('alert').filter({ hasText: refusal.message }).first();
    await expect(told).toContainText(refusal.request);
    await expectFrame(page);
    // The text and the button, which must be below the text, so that it does not squeeze it.
    const [words, button] = [
      told.getByText(refusal.message),
      told.getByRole('button', { name: 'Try again' }),
    ];
    const [over, under] = [await words.boundingBox(), await button.boundingBox()];
    expect(under?.y).toBeGreaterThan((over?.y ?? Infinity) + (over?.height ?? 0));
  });
}

test('a first visit that waits for its session is not empty', async ({ page }) => {
  await page.route('**/api/v1/auth/session', () => undefined);
  await page.goto('/fleet');
  await expect(page.getByRole('status', { name: 'Loading' })).toBeVisible();
  await expectAccessible(page);
});

test('figures of the fleet that did not load say so, and are no zeros', async ({ page }) => {
  await refuse(page, isAsked);
  await page.goto('/fleet');
  const tiles = page.getByRole('main').getByRole('group');
  await expect(tiles.filter({ hasText: 'failed to load' })).toHaveCount(8);
  await expectAccessible(page);
});

test('each part of an instance that did not load says so in its place', async ({
  page,
  instances: [first],
}) => {
  await refuse(page, (url) => isAsked(url) && !url.pathname.endsWith(`/instances/${first.id}`));
  await page.goto(`/instances/${first.id}/overview`);
  await expect(page.getByRole('heading', { level: 1 })).toHaveText(first.name);
  for (const part of ['Fast Query Cache', 'Prerequisites', /^Class /])
    await expect(page.getByRole('region', { name: part })).toContainText(refusal.request);
  await expect(page.getByRole('alert')).toHaveCount(3);
  await expectAccessible(page);
});

test('a choice that did not load says so at its field', async ({ page }) => {
  await refuse(page, isAsked);
  await page.goto('/templates/apply');
  await expect(page.getByText('The options could not be loaded')).toBeVisible();
});

test('a fleet without instances offers no filters, and does not blame them', async ({ page, api }) => {
  // The real summary, requested before: a page that is closed while a request is forwarded fails the test.
  const told = await api.get<object>('fleet/summary');
  await page.route('**/api/v1/instances?*', (route) => route.fulfill({ json: { items: [], next: null } }));
  await page.route('**/api/v1/fleet/summary', (route) =>
    route.fulfill({ json: { ...told, instance_count: 0, by_state: {} } }),
  );
  await page.goto('/fleet?search=nothing');
  await expect(page.getByText('No instances yet')).toBeVisible();
  await expect(page.getByRole('textbox')).toHaveCount(0);
  await expectAccessible(page);
});
