// Moving an instance to another address requires its password again: the stored password is not sent to another server.
import { expectAccessible, expectToFitPhone } from './accessible';
import { expect, test } from './console';
import { stack } from './session';

test('an instance is moved with its password, and renamed without', async ({
  page,
  api,
  instances: [first],
}) => {
  const { host, port, username, password } = stack.server(first.id);
  const name = `moved-${Date.now()}`;
  const made = await api.send<{ id: string }>('POST', 'instances', {
    name,
    provider: 'external',
    instance_class: 'local.small',
    host,
    port,
    username,
    password,
  });
  try {
    await page.goto(`/instances/${made.id}/overview`);
    const form = page.getByRole('dialog');
    const open = async () => {
      await page.getByRole('button', { name: 'Actions' }).click();
      await page.getByRole('menuitem', { name: 'Edit' }).click();
    };
    await open();
    await expect(form.getByLabel(/^New password/)).toHaveAccessibleDescription(/Leave empty/);
    await form.getByLabel(/^Name/).fill(`${name}-renamed`);
    await form.getByRole('button', { name: 'Save' }).click();
    await expect(form).toBeHidden();

    await open();
    await form.getByLabel(/^Host/).fill('localhost');
    const due = form.getByLabel(/^Password(?! for trials)/);
    await expect(due).toHaveAccessibleDescription(/Enter the password again/);
    await form.getByRole('button', { name: 'Save' }).click();
    await expect(form).toBeVisible();
    await expectAccessible(page);
    await expectToFitPhone(page);
    await due.fill(password);
    await form.getByRole('button', { name: 'Save' }).click();
    await expect(form).toBeHidden();
    const moved = await api.get<{ endpoint: { host: string } }>(`instances/${made.id}`);
    expect(moved.endpoint.host).toBe('localhost');
  } finally {
    await api.send('DELETE', `instances/${made.id}`);
  }
});
