// Every page, in both schemes: no accessibility violation, nothing wider than a phone, no error in the console.
import AxeBuilder from '@axe-core/playwright';
import { expect, test, type Instance } from './console';

const PAGES: Record<string, (instance: Instance) => string> = {
  fleet: () => '/fleet',
  overview: ({ id }) => `/instances/${id}/overview`,
  parameters: ({ id }) => `/instances/${id}/parameters`,
  monitoring: ({ id }) => `/instances/${id}/monitoring?range=15m`,
  queries: ({ id }) => `/instances/${id}/queries`,
  cache: ({ id }) => `/instances/${id}/cache`,
  history: ({ id }) => `/instances/${id}/history`,
  'instance alerts': ({ id }) => `/instances/${id}/alerts`,
  templates: () => '/templates',
  template: () => '/templates/tpl-57-cache-on',
  'apply to many': () => '/templates/apply',
  incidents: () => '/alerts',
  rules: () => '/alerts?tab=rules',
  silences: () => '/alerts?tab=silences',
  audit: () => '/audit',
  users: () => '/access?tab=users',
  tokens: () => '/access?tab=tokens',
  'access keys': () => '/access?tab=keys',
  settings: () => '/settings',
};

for (const [name, pathOf] of Object.entries(PAGES)) {
  test(`${name}: accessible, and fits a phone`, async ({ page, instances: [first] }) => {
    const problems: string[] = [];
    page.on('pageerror', (error) => problems.push(error.message));
    page.on('console', (message) => message.type() === 'error' && problems.push(message.text()));
    await page.goto(pathOf(first));
    await expect(page.getByRole('heading', { level: 1 })).toBeVisible();
    await expect(page.locator('[aria-busy="true"]')).toHaveCount(0);
    for (const colorScheme of ['light', 'dark'] as const) {
      await page.emulateMedia({ colorScheme, reducedMotion: 'reduce' });
      await expect(page.locator('html')).toHaveAttribute('data-mantine-color-scheme', colorScheme);
      const { violations } = await new AxeBuilder({ page }).analyze();
      expect(violations.map(({ id, nodes }) => `${id}: ${nodes[0]?.html}`)).toEqual([]);
    }
    await page.setViewportSize({ width: 390, height: 844 });
    await expect
      .poll(() => page.evaluate(() => document.documentElement.scrollWidth))
      .toBeLessThanOrEqual(390);
    expect(problems).toEqual([]);
  });
}

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
