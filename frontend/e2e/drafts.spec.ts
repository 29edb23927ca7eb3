// Form entries survive a reload, except secrets. Cancelling, submitting and logging out discard them.
import { expect, test } from './console';

const KEPT = 'Your unfinished entries were restored.';

test('a new rule comes back after a reload, and starts over on demand', async ({ page }) => {
  const form = page.getByRole('dialog');
  await page.goto('/alerts?tab=rules');
  await page.getByRole('button', { name: 'New rule' }).click();
  await form.getByLabel('Name').fill('half a rule');
  await form.getByLabel('Threshold', { exact: true }).fill('33');
  await page.reload();
  await page.getByRole('button', { name: 'New rule' }).click();
  await expect(form.getByText(KEPT)).toBeVisible();
  await expect(form.getByLabel('Name')).toHaveValue('half a rule');
  await expect(form.getByLabel('Threshold', { exact: true })).toHaveValue('33');
  await form.getByRole('button', { name: 'Start over' }).click();
  await expect(form.getByLabel('Name')).toHaveValue('');
  await expect(form.getByText(KEPT)).toBeHidden();
});

test('a silence outlives a detour, and is forgotten once given up', async ({ page }) => {
  const form = page.getByRole('dialog');
  await page.goto('/alerts?tab=silences');
  await page.getByRole('button', { name: 'New silence' }).click();
  await form.getByLabel('Reason').fill('planned work');
  await form.getByLabel('Tags').fill('env:nowhere');
  await page.goto('/audit');
  await page.goto('/alerts?tab=silences');
  await page.getByRole('button', { name: 'New silence' }).click();
  await expect(form.getByLabel('Reason')).toHaveValue('planned work');
  await expect(form.getByLabel('Tags')).toHaveValue('env:nowhere');
  await form.getByRole('button', { name: 'Cancel' }).click();
  await page.getByRole('button', { name: 'New silence' }).click();
  await expect(form.getByLabel('Reason')).toHaveValue('');
});

test('a new instance comes back without its password', async ({ page }) => {
  const form = page.getByRole('dialog');
  await page.goto('/fleet');
  await page.getByRole('button', { name: 'Add instance' }).click();
  await form.getByLabel('Name').fill('half an instance');
  await form.getByLabel('Password').first().fill('not to be kept');
  expect(await page.evaluate(() => JSON.stringify(window.sessionStorage))).not.toContain('not to be kept');
  await page.reload(); // its address says that the form is open
  await expect(form.getByLabel('Name')).toHaveValue('half an instance');
  await expect(form.getByLabel('Password').first()).toHaveValue('');
});

test('settings come back unsaved and without their password', async ({ page }) => {
  await page.goto('/settings');
  await page.getByLabel('SMTP server').fill('mail.example.com');
  await page.getByLabel('Password').first().fill('not to be kept');
  await page.reload();
  await expect(page.getByText(KEPT)).toBeVisible();
  await expect(page.getByLabel('SMTP server')).toHaveValue('mail.example.com');
  await expect(page.getByLabel('Password').first()).toHaveValue('');
  await page.getByRole('button', { name: 'Start over' }).click();
  await expect(page.getByLabel('SMTP server')).not.toHaveValue('mail.example.com');
  await expect(page.getByRole('button', { name: 'Save' })).toBeDisabled();
});

test('a form that was refused says why and keeps what was typed', async ({ page, instances: [first] }) => {
  const form = page.getByRole('dialog');
  await page.goto('/fleet');
  await page.getByRole('button', { name: 'Add instance' }).click();
  await form.getByLabel('Name').fill(first.name);
  await form.getByRole('combobox', { name: 'Class' }).click();
  await page.getByRole('option', { name: /^fqc\.n1\.small:/ }).click();
  await form.getByLabel('Host').fill('127.0.0.1');
  await form.getByLabel('Account').fill('nobody');
  await form.getByLabel('Password').first().fill('wrong');
  // The connection is tried first. If the user insists, other problems are reported.
  await form.getByRole('button', { name: 'Add instance' }).click();
  await expect(form.getByRole('alert')).toBeVisible();
  await form.getByLabel('Add it without a working connection').click();
  await form.getByRole('button', { name: 'Add instance' }).click();
  await expect(form.getByRole('alert')).toContainText('choose another name');
  await expect(form.getByLabel('Name')).toHaveValue(first.name);
  await expect(form.getByLabel('Account')).toHaveValue('nobody');
  await expect(form.getByLabel('Password').first()).toHaveValue('wrong');
});

test('a form whose request was lost keeps what was typed, and is sent again', async ({ page }) => {
  const name = `lost ${Date.now()}`;
  const form = page.getByRole('dialog');
  await page.goto('/alerts?tab=rules');
  await page.getByRole('button', { name: 'New rule' }).click();
  await form.getByLabel('Name').fill(name);
  await form.getByLabel('Threshold', { exact: true }).fill('42');
  const isSaved = (url: URL) => url.pathname === '/api/v1/alert-rules';
  await page.route(isSaved, (route) =>
    route.request().method() === 'POST' ? route.abort('connectionreset') : route.continue(),
  );
  await form.getByRole('button', { name: 'Save' }).click();
  await expect(form.getByRole('alert')).toContainText('The control plane cannot be reached');
  await expect(form.getByLabel('Name')).toHaveValue(name);
  await expect(form.getByLabel('Threshold', { exact: true })).toHaveValue('42');
  await page.unroute(isSaved);
  await form.getByRole('button', { name: 'Save' }).click();
  await expect(form).toBeHidden();
  await page.getByRole('button', { name: `Delete rule ${name}?` }).click();
  await page.getByRole('dialog').getByRole('button', { name: 'Delete' }).click();
  await expect(page.getByRole('cell', { name, exact: true })).toBeHidden();
});
