import { expect, test } from './console';
import { refusal, refuse } from './refusal';
import { stack } from './session';

test.use({ storageState: { cookies: [], origins: [] } });

test('a log-in returns to the page that asked for it', async ({ page }) => {
  await page.goto('/templates');
  await expect(page).toHaveURL(/\/login\?next=/);
  await page.getByLabel('User name').fill(stack.user());
  await page.getByLabel(/^Password/).fill(stack.password());
  await page.getByRole('button', { name: 'Log in' }).click();
  await expect(page).toHaveURL(/\/templates$/);
  await expect(page.getByRole('heading', { level: 1 })).toHaveText('Templates');
});

test('without an identity provider, nothing leads to one', async ({ page }) => {
  await page.goto('/login');
  await expect(page.getByLabel('User name')).toBeVisible();
  await expect(page.getByRole('button', { name: /Sign in with/ })).toHaveCount(0);
});

test('a refused log-in shows the reason and the request, and keeps what was typed', async ({ page }) => {
  await page.goto('/login');
  await page.getByLabel('User name').fill('nobody-of-that-name');
  await page.getByLabel(/^Password/).fill('wrong');
  await page.getByRole('button', { name: 'Log in' }).click();
  await expect(page.getByRole('alert')).toContainText('Request');
  await expect(page.getByLabel('User name')).toHaveValue('nobody-of-that-name');
});

test('a link of another site is not followed after the log-in', async ({ page }) => {
  await page.goto('/login?next=//example.com/');
  await page.getByLabel('User name').fill(stack.user());
  await page.getByLabel(/^Password/).fill(stack.password());
  await page.getByRole('button', { name: 'Log in' }).click();
  await expect(page).toHaveURL(/\/fleet$/);
});

test('a session that ended while its page was open leads back there, however late the log-in page comes', async ({
  page,
  context,
}) => {
  const logIn = async () => {
    await page.getByLabel('User name').fill(stack.user());
    await page.getByLabel(/^Password/).fill(stack.password());
    await page.getByRole('button', { name: 'Log in' }).click();
  };
  await page.goto('/templates');
  await logIn();
  await expect(page).toHaveURL(/\/templates$/);
  await page.reload();
  const link = page.getByRole('link', { name: 'Audit' });
  await expect(link).toBeVisible();
  let letCome = () => {};
  const mayCome = new Promise<void>((resolve) => (letCome = resolve));
  await page.route(/\/login-[^/]*\.js$/, async (route) => {
    await mayCome;
    await route.continue();
  });
  const asked = page.waitForRequest(/\/login-[^/]*\.js$/);
  await context.clearCookies();
  await link.click();
  await asked;
  await expect(page).toHaveURL(/\/login\?next=%2Faudit/);
  letCome();
  await logIn();
  await expect(page).toHaveURL(/\/audit/);
});

test('a log-out that was refused says so, and is tried again', async ({ page }) => {
  await page.goto('/templates');
  await page.getByLabel('User name').fill(stack.user());
  await page.getByLabel(/^Password/).fill(stack.password());
  await page.getByRole('button', { name: 'Log in' }).click();
  const isSession = (url: URL) => url.pathname === '/api/v1/auth/session';
  await refuse(page, isSession, { method: 'DELETE' });
  await page.getByRole('button', { name: stack.user() }).click();
  await page.getByRole('menuitem', { name: 'Log out' }).click();
  const told = page.getByRole('dialog', { name: 'You are still logged in' });
  await expect(told).toContainText(refusal.text);
  await expect(page).toHaveURL(/\/templates$/);
  await page.unroute(isSession);
  await told.getByRole('button', { name: 'Log out' }).click();
  await expect(page).toHaveURL(/\/login/);
  await page.goto('/templates');
  await expect(page).toHaveURL(/\/login\?next=/);
});
