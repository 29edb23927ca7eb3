import { expect, test } from './console';

test('what is not met in the checklist is mended by its button', async ({
  page,
  api,
  instances: [, second],
}) => {
  await api.change(second.id, 'proxy', { enabled: true });
  await page.goto(`/instances/${second.id}/overview`);
  const checklist = page.getByRole('region', { name: 'Prerequisites' });
  const proxy = checklist.getByRole('listitem').filter({ hasText: 'the dedicated proxy is enabled' });
  await expect(proxy).toContainText('blocks');
  await proxy.getByRole('button').click();
  await expect(page.getByRole('region', { name: /proxy on/ })).toContainText('applied');
  await page.getByRole('tab', { name: 'Overview' }).click();
  await expect(checklist).toContainText('the dedicated proxy is disabled');
});
