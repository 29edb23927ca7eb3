// Every page in both colour schemes: no accessibility violation, no content wider than a phone, no error in the
// console.
import type { Locator, Page } from '@playwright/test';
import { expectAccessible, expectToFitPhone } from './accessible';
import { PAGES } from './addresses';
import { expect, test } from './console';

// The tests only read, so they can run in parallel.
test.describe.configure({ mode: 'parallel' });

function problemsOf(page: Page): string[] {
  const problems: string[] = [];
  page.on('pageerror', (error) => problems.push(error.message));
  page.on('console', (message) => message.type() === 'error' && problems.push(message.text()));
  return problems;
}

async function expectSound(page: Page, problems: string[]): Promise<void> {
  await expect(page.getByRole('heading', { level: 1 })).toBeVisible();
  await expect(page.locator('[aria-busy="true"]')).toHaveCount(0);
  await expectAccessible(page);
  await expectToFitPhone(page);
  expect(problems).toEqual([]);
}

for (const [name, pathOf] of Object.entries(PAGES)) {
  test(`${name}: accessible, and fits a phone`, async ({ page, instances: [first] }) => {
    const problems = problemsOf(page);
    await page.goto(pathOf(first));
    await expectSound(page, problems);
  });
}

test('navigation is in reach on a screen of any width', async ({ page }) => {
  await page.goto('/fleet');
  const menu = page.getByRole('button', { name: 'Open navigation' });
  const templates = page.getByRole('link', { name: 'Templates', exact: true });
  for (const width of [390, 768, 991, 992, 1440]) {
    await page.setViewportSize({ width, height: 1024 });
    const folded = width < 992;
    await expect(menu).toBeVisible({ visible: folded });
    await expect(templates).toBeVisible({ visible: !folded });
  }
});

test('log-in: accessible, and fits a phone', async ({ browser }) => {
  const context = await browser.newContext({ storageState: { cookies: [], origins: [] } });
  const page = await context.newPage();
  const problems = problemsOf(page);
  await page.goto('/login');
  await expectSound(page, problems);
});

test('an address that leads nowhere: accessible, and fits a phone', async ({ page }) => {
  const problems = problemsOf(page);
  await page.goto('/nothing');
  await expectSound(page, problems);
  await page.getByRole('link', { name: 'Go to the fleet' }).click();
  await expect(page.getByRole('heading', { level: 1 })).toHaveText('Fleet');
});

test('fleet apply: accessible, and fits a phone, before it is started', async ({
  page,
  instances: [first, second],
}) => {
  const problems = problemsOf(page);
  await page.goto('/templates/apply?template=tpl-57-cache-on');
  const { csrf_token } = (await (await page.request.get('/api/v1/auth/session')).json()) as {
    csrf_token: string;
  };
  const made = await page.request.post('/api/v1/fleet-applies', {
    data: { template: 'tpl-57-cache-on', instances: [first.id, second.id], start: false },
    headers: { 'X-CSRFToken': csrf_token, Referer: page.url() },
  });
  expect(made.status(), await made.text()).toBe(201);
  const { id } = (await made.json()) as { id: string };
  await page.goto(`/fleet-applies/${id}`);
  await expectSound(page, problems);
});

const DIALOGS: [path: string, button: string][] = [
  ['/templates', 'New template'],
  ['/alerts?tab=rules', 'New rule'],
  ['/alerts?tab=silences', 'New silence'],
  ['/access?tab=users', 'Add user'],
  ['/access?tab=tokens', 'New token'],
  ['/access?tab=keys', 'New access key'],
  ['/fleet', 'Add instance'],
];

for (const [path, button] of DIALOGS) {
  test(`the form of "${button}" is accessible`, async ({ page }) => {
    await page.goto(path);
    await page.getByRole('button', { name: button }).click();
    await expect(page.getByRole('dialog')).toBeVisible();
    await expect(page.locator('[aria-busy="true"]')).toHaveCount(0);
    await expectAccessible(page);
  });
}

test('where motion is reduced, a change of the colours moves nothing', async ({ page }) => {
  await page.emulateMedia({ colorScheme: 'light', reducedMotion: 'reduce' });
  await page.goto('/settings');
  await expect(page.getByRole('button', { name: 'Send test' })).toBeVisible();
  const moving = () =>
    page.evaluate(() => {
      document.documentElement.setAttribute('data-mantine-color-scheme', 'dark');
      return document.getAnimations().filter((animation) => animation instanceof CSSTransition).length;
    });
  expect(await moving()).toBe(0);
});

test('the second language is kept, and the first one comes back', async ({ page }) => {
  await page.goto('/fleet');
  await page.getByRole('button', { name: 'Language' }).click();
  await page.getByRole('menuitem', { name: '简体中文' }).click();
  await expect(page.getByRole('heading', { level: 1 })).toHaveText('实例');
  await expect(page.locator('html')).toHaveAttribute('lang', 'zh-CN');
  await page.reload();
  await expect(page.getByRole('heading', { level: 1 })).toHaveText('实例');
  await page.getByRole('button', { name: '语言' }).click();
  await page.getByRole('menuitem', { name: 'English' }).click();
  await expect(page.getByRole('heading', { level: 1 })).toHaveText('Fleet');
});

test('a phone reaches the pages through the menu', async ({ page }) => {
  await page.setViewportSize({ width: 390, height: 844 });
  await page.goto('/fleet');
  await page.getByRole('button', { name: 'Open navigation' }).click();
  await page.getByRole('link', { name: 'Audit' }).click();
  await expect(page.getByRole('heading', { level: 1 })).toHaveText('Audit');
});

test('a dialog that Escape closes gives the focus back to what opened it', async ({
  page,
  instances: [first],
}) => {
  const dialog = page.getByRole('dialog');
  const expectBack = async (opener: Locator) => {
    await expect(dialog).toBeVisible();
    await expect(dialog.locator(':focus')).toHaveCount(1);
    await page.keyboard.press('Escape');
    await expect(dialog).toBeHidden();
    await expect(opener).toBeFocused();
  };
  await page.goto('/templates');
  const create = page.getByRole('button', { name: 'New template' });
  await create.press('Enter');
  await expectBack(create);

  await page.goto(`/instances/${first.id}/overview`);
  const actions = page.getByRole('button', { name: 'Actions' });
  for (const entry of ['Edit', 'Restart', 'Change class']) {
    await actions.press('Enter');
    await page.getByRole('menuitem', { name: entry }).press('Enter');
    await expectBack(actions);
  }
});
