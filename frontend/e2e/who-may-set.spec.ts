import { expectAccessible, expectToFitPhone } from './accessible';
import { expect, test } from './console';

const OPERATOR = { username: `op-${Date.now() % 1_000_000}`, password: 'an operator and no more' };

test('what is for administrators, or for nobody, is locked with the reason', async ({
  page,
  browser,
  api,
  instances: [first],
}) => {
  await api.send('POST', 'users', { ...OPERATOR, email: '', role: 'operator' });
  const change = await api.send<{ id: string }>('POST', `instances/${first.id}/changes`, {
    parameters: { general_log: 'ON' },
  });
  await page.goto(`/instances/${first.id}/parameters?search=general_log`);
  await expect(page.getByRole('button', { name: 'Edit general_log' })).toBeVisible();
  await expect(page.getByLabel(/^Cannot be set here: It names a file/)).toBeVisible();
  await expect(page.getByRole('button', { name: /general_log_file/ })).toHaveCount(0);

  const theirs = await browser.newContext({ storageState: { cookies: [], origins: [] } });
  const other = await theirs.newPage();
  await other.goto(`/instances/${first.id}/parameters?search=general_log`);
  await other.getByLabel('User name').fill(OPERATOR.username);
  await other.getByLabel(/^Password/).fill(OPERATOR.password);
  await other.getByRole('button', { name: 'Log in' }).click();
  const lock = other.getByLabel(/^For administrators: It writes the statements/);
  await expect(lock).toBeVisible();
  await expect(other.getByRole('button', { name: 'Edit general_log' })).toHaveCount(0);
  await expectAccessible(other);
  await lock.hover();
  await expect(other.getByRole('tooltip')).toContainText('For administrators');
  await other.setViewportSize({ width: 390, height: 844 });
  await expectToFitPhone(other);

  await other.goto(`/instances/${first.id}/changes/${change.id}`);
  await expect(other.getByText('An administrator must start this change.')).toBeVisible();
  await expect(other.getByRole('button', { name: 'Approve' })).toHaveCount(0);
  await theirs.close();
  await api.send('POST', `changes/${change.id}/abort`);
});
