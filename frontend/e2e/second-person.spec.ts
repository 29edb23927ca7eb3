import { expect, test } from './console';

const OTHER = { username: `second-${Date.now()}`, password: 'a second pair of eyes' };

test.beforeEach(async ({ api, afterwards }) => {
  const other = await api.send<{ id: number }>('POST', 'users', { ...OTHER, email: '', role: 'operator' });
  afterwards(() => api.send('DELETE', `users/${other.id}`));
  await api.send('PATCH', 'settings', { is_four_eyes: true });
  afterwards(() => api.send('PATCH', 'settings', { is_four_eyes: false }));
});

test('a restart waits for a second person, who approves it in a browser of their own', async ({
  page,
  browser,
  instances: [, second],
}) => {
  await page.goto(`/instances/${second.id}/overview`);
  await page.getByRole('button', { name: 'Actions' }).click();
  await page.getByRole('menuitem', { name: 'Restart' }).click();
  await page.getByRole('dialog').getByRole('button', { name: 'Restart' }).click();
  await expect(page).toHaveURL(/\/changes\//);
  await expect(page.getByText('A second person must approve this change.')).toBeVisible();
  await page.getByRole('button', { name: 'Approve' }).click();
  await expect(page.getByText(/have someone else approve/)).toBeVisible();
  await expect(page.getByText('previewed', { exact: true })).toBeVisible();

  const theirs = await browser.newContext({ storageState: { cookies: [], origins: [] } });
  const other = await theirs.newPage();
  await other.goto(page.url());
  await other.getByLabel('User name').fill(OTHER.username);
  await other.getByLabel(/^Password/).fill(OTHER.password);
  await other.getByRole('button', { name: 'Log in' }).click();
  await other.getByRole('button', { name: 'Approve' }).click();
  await expect(other.getByText('applied', { exact: true })).toBeVisible();
  // The first person's page updates without a reload.
  await expect(page.getByText('applied', { exact: true })).toBeVisible();
  await expect(page.getByText(OTHER.username)).toBeVisible();
  await theirs.close();
});
