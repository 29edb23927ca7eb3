// Near caches that report to the control plane: their token, and their row in the list with those that a server
// reports.
import { request } from '@playwright/test';
import { expectAccessible, expectToFitPhone } from './accessible';
import { expect, test } from './console';
import { stack } from './session';

test('a near cache reports with a token that is made on its page', async ({
  page,
  instances: [, second],
}) => {
  const name = `near-${Date.now()}`;
  await page.goto(`/instances/${second.id}/near`);
  await page.getByRole('button', { name: 'Create a token for near caches' }).click();
  const dialog = page.getByRole('dialog');
  await dialog.getByLabel('Name').fill(name);
  await dialog.getByRole('button', { name: 'Create' }).click();
  await expect(dialog.getByText('Copy it now. It will not be shown again.')).toBeVisible();
  await expect(dialog.getByText(/^fqc-near --server .* --control-plane-token-file/)).toBeVisible();
  const token = await dialog.getByText(/^fqc_/).textContent();
  await expectAccessible(page);
  await dialog.getByRole('button', { name: 'Close' }).last().click();

  // Sends requests without a session, as a near cache sends its reports.
  const near = await request.newContext({ baseURL: stack.url(), storageState: { cookies: [], origins: [] } });
  const report = {
    ...{
      name,
      life: 1,
      version: '0.1.0',
      server: 'db.internal:3306',
      mode: 'rules',
      obstacle: 'no server answers',
    },
    ...{ staleness_ms: null, entries: 1, stored_bytes: 1024, hits: 3, misses: 1, is_leaving: false },
  };
  const answer = await near.post('/api/v1/near-caches/reports', {
    data: report,
    headers: { Authorization: `Bearer ${token}` },
  });
  expect(answer.status()).toBe(200);
  await near.dispose();

  const row = page.getByRole('row').filter({ hasText: name });
  for (const told of ['not serving', 'no server answers', 'rules', 'reporting', '75'])
    await expect(row.getByRole('cell').filter({ hasText: told }).first()).toBeVisible();
  await expectToFitPhone(page);
});
