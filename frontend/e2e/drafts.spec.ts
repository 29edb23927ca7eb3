// What was typed into a form outlives a reload, except secrets; giving up, sending and logging out forget it.
import { expect, test } from './console';

const KEPT = 'This is what you typed before.';

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
  await page.reload();
  await page.getByRole('button', { name: 'Add instance' }).click();
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
