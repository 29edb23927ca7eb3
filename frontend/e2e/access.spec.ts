import { readFile } from 'node:fs/promises';
import { expectAccessible, expectToFitPhone } from './accessible';
import { expect, test } from './console';
import { stack } from './session';

test('a token is shown once, listed, revoked, and audited', async ({ page }) => {
  const name = `e2e token ${Date.now()}`;
  await page.goto('/access?tab=tokens');
  await page.getByRole('button', { name: 'New token' }).click();
  await page.getByRole('dialog').getByLabel('Name').fill(name);
  await page.getByRole('button', { name: 'Create' }).click();
  await expect(page.getByText('Copy it now. It will not be shown again.')).toBeVisible();
  await page.getByRole('dialog').getByRole('button', { name: 'Close' }).last().click();
  await expect(page.getByRole('cell', { name, exact: true })).toBeVisible();
  await page.getByRole('button', { name: `Revoke token ${name}?` }).click();
  await page.getByRole('dialog').getByRole('button', { name: 'Revoke' }).click();
  await expect(page.getByRole('cell', { name, exact: true })).toBeHidden();
  await page.goto('/audit');
  await expect(page.getByRole('cell', { name }).first()).toBeVisible();
});

test('a session is listed for its user, and ended from another', async ({ page, browser }) => {
  const there = await browser.newContext({
    baseURL: stack.url(),
    storageState: { cookies: [], origins: [] },
    userAgent: 'Mozilla/5.0 (X11; Linux) Firefox/140.0',
  });
  const other = await there.newPage();
  await other.goto('/login');
  await other.getByLabel('User name').fill(stack.user());
  await other.getByLabel(/^Password/).fill(stack.password());
  await other.getByRole('button', { name: 'Log in' }).click();
  await expect(other).toHaveURL(/\/fleet$/);
  await page.goto('/');
  await page.getByRole('button', { name: stack.user() }).click();
  await page.getByRole('menuitem', { name: 'Your sessions' }).click();
  const row = page.getByRole('row').filter({ hasText: 'Firefox, Linux' }).first();
  await expect(page.getByRole('row').filter({ hasText: 'This session' })).toHaveCount(1);
  await expectAccessible(page);
  await expectToFitPhone(page);
  await row.getByRole('button', { name: 'End session' }).click();
  await page.getByRole('dialog').getByRole('button', { name: 'End session' }).click();
  await expect(page.getByRole('row').filter({ hasText: 'Firefox, Linux' })).toHaveCount(0);
  await other.goto('/templates');
  await expect(other).toHaveURL(/\/login/);
  await there.close();
});

test('all other sessions are ended from the menu of the user', async ({ api, browser }) => {
  // The name of a separate user, so that the session of the other tests goes on.
  const name = `e2e-apart-${Date.now()}`;
  const password = 'a phrase of a few words';
  await api.send('POST', 'users', { username: name, password, email: '', role: 'viewer' });
  const logIn = async () => {
    const context = await browser.newContext({
      baseURL: stack.url(),
      storageState: { cookies: [], origins: [] },
    });
    const page = await context.newPage();
    await page.goto('/login');
    await page.getByLabel('User name').fill(name);
    await page.getByLabel(/^Password/).fill(password);
    await page.getByRole('button', { name: 'Log in' }).click();
    await expect(page).toHaveURL(/\/fleet$/);
    return page;
  };
  const here = await logIn();
  const there = await logIn();
  await here.getByRole('button', { name }).click();
  await here.getByRole('menuitem', { name: 'End all other sessions' }).click();
  await here.getByRole('dialog').getByRole('button', { name: 'End all other sessions' }).click();
  await expect(here.getByRole('dialog')).toHaveCount(0);
  await there.goto('/templates');
  await expect(there).toHaveURL(/\/login/);
  await here.goto('/access?tab=sessions');
  await expect(here.getByRole('row').filter({ hasText: 'This session' })).toHaveCount(1);
  await expect(here.getByRole('button', { name: 'End all other sessions' })).toBeDisabled();
  await here.context().close();
  await there.context().close();
});

test('an access key shows its secret once, is disabled, enabled, and deleted', async ({ page }) => {
  const name = `e2e key ${Date.now()}`;
  await page.goto('/access?tab=keys');
  await page.getByRole('button', { name: 'New access key' }).click();
  await page.getByRole('dialog').getByLabel('Name').fill(name);
  await page.getByRole('button', { name: 'Create' }).click();
  await expect(page.getByText('Copy it now. It will not be shown again.')).toBeVisible();
  await expect(page.getByRole('button', { name: 'Copy AccessKeySecret' })).toBeVisible();
  await page.getByRole('dialog').getByRole('button', { name: 'Close' }).click();

  const row = page.getByRole('row').filter({ hasText: name });
  await expect(row).toContainText('Active');
  await page.getByRole('button', { name: `Disable access key ${name}` }).click();
  await expect(row).toContainText('Inactive');
  await page.getByRole('button', { name: `Enable access key ${name}` }).click();
  await expect(row).toContainText('Active');
  await page.getByRole('button', { name: `Delete access key ${name}?` }).click();
  await page.getByRole('dialog').getByRole('button', { name: 'Delete' }).click();
  await expect(row).toBeHidden();
});

test('a user is added, given another role, and deleted', async ({ page }) => {
  const name = `e2e-user-${Date.now()}`;
  const form = page.getByRole('dialog');
  const row = page.getByRole('row').filter({ hasText: name });
  await page.goto('/access?tab=users');
  await page.getByRole('button', { name: 'Add user' }).click();
  await form.getByLabel('User', { exact: false }).first().fill(name);
  await form
    .getByLabel(/^Password/)
    .first()
    .fill('short');
  await form.getByRole('button', { name: 'Create' }).click();
  // The form is refused and keeps its entries.
  await expect(form.getByRole('alert')).toBeVisible();
  await expect(form.getByLabel('User', { exact: false }).first()).toHaveValue(name);
  await form
    .getByLabel(/^Password/)
    .first()
    .fill('a password of some length');
  await form.getByRole('button', { name: 'Create' }).click();
  await expect(row).toContainText('viewer');
  await page.getByRole('button', { name: `Edit ${name}` }).click();
  await form.getByRole('combobox', { name: 'Role' }).click();
  await page.getByRole('option', { name: /^operator/ }).click();
  await form.getByRole('button', { name: 'Save' }).click();
  await expect(row).toContainText('operator');
  await page.getByRole('button', { name: `Delete user ${name}?` }).click();
  await form.getByRole('button', { name: 'Delete' }).click();
  await expect(row).toBeHidden();
});

test('a password is changed by its owner, and reset by an admin who reads what ended', async ({
  page,
  api,
  browser,
}) => {
  const name = `e2e-person-${Date.now()}`;
  const user = { username: name, password: 'a first phrase of words', email: '', role: 'viewer' };
  await api.send('POST', 'users', user);
  const theirs = await browser.newContext({ storageState: { cookies: [], origins: [] } });
  const other = await theirs.newPage();
  await other.goto('/fleet');
  const menu = other.getByRole('button', { name });
  // Logs in with this password, and tries again while the server is busy with other password checks.
  const logIn = (password: string) =>
    expect(async () => {
      if (await menu.isVisible()) return;
      await other.getByLabel('User name').fill(name.toUpperCase(), { timeout: 10_000 });
      await other.getByLabel(/^Password/).fill(password);
      await other.getByRole('button', { name: 'Log in' }).click();
      await expect(menu).toBeVisible({ timeout: 10_000 });
    }).toPass();
  await logIn(user.password);
  await menu.click();
  await other.getByRole('menuitem', { name: 'Change password' }).click();
  const form = other.getByRole('dialog');
  await form.getByLabel(/^Current password/).fill('not this one');
  await form.getByLabel(/^New password/).fill('a second phrase of words');
  await form.getByRole('button', { name: 'Change password' }).click();
  await expect(form.getByText('this is not your current password').first()).toBeVisible();
  await form.getByLabel(/^Current password/).fill(user.password);
  // Repeated if the server was busy with other password checks, as above.
  await expect(async () => {
    if (await form.getByRole('status').isVisible()) return;
    await form.getByRole('button', { name: 'Change password' }).click({ timeout: 10_000 });
    await expect(form.getByRole('status')).toBeVisible({ timeout: 20_000 });
  }).toPass();
  await expect(form.getByRole('status')).toHaveText('Ended: 0 sessions, 0 tokens, 0 access keys.');
  await form.getByRole('button', { name: 'Close' }).last().click();
  // This session is still logged in.
  await other.reload();
  await expect(menu).toBeVisible();

  await page.goto('/access?tab=users');
  await page.getByRole('button', { name: `Edit ${name}` }).click();
  const edit = page.getByRole('dialog');
  await edit.getByLabel(/^New password/).fill('a third phrase of words');
  await expect(edit.getByRole('switch', { name: /Keep tokens/ })).not.toBeChecked();
  await edit.getByRole('button', { name: 'Save' }).click();
  await expect(edit.getByRole('status')).toHaveText('Ended: 1 session, 0 tokens, 0 access keys.');
  await edit.getByRole('button', { name: 'Close' }).last().click();
  await other.reload();
  await logIn('a third phrase of words');
  await expect(menu).toBeVisible();
  await theirs.close();
  await page.getByRole('button', { name: `Delete user ${name}?` }).click();
  await page.getByRole('dialog').getByRole('button', { name: 'Delete' }).click();
  await expect(page.getByRole('row').filter({ hasText: name })).toBeHidden();
});

test('an admin downloads the audit of some days', async ({ page }) => {
  await page.goto('/audit');
  await page.getByRole('button', { name: 'Export' }).click();
  const form = page.getByRole('dialog');
  const to = await form.getByLabel('To (inclusive)').inputValue();
  await form.getByLabel('To (inclusive)').fill('2020-01-01');
  await expect(form.getByText('This is before the start date.')).toBeVisible();
  await expect(form.getByRole('button', { name: 'Download' })).toBeDisabled();
  await form.getByLabel('To (inclusive)').fill(to);
  await form.getByLabel(/^JSON lines/).check();
  const [file] = await Promise.all([
    page.waitForEvent('download'),
    form.getByRole('link', { name: 'Download' }).click(),
  ]);
  expect(file.suggestedFilename()).toMatch(/^audit-.*\.jsonl$/);
  const lines = (await readFile(await file.path(), 'utf8')).trim().split('\n');
  const actions = lines.map((line) => (JSON.parse(line) as { action: string }).action);
  expect(actions).toContain('login.succeeded');
  await expect(form).toBeHidden();
});
