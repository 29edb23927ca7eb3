import { expectAccessible, expectToFitPhone } from './accessible';
import { expect, test } from './console';
import { whileReading } from './fleet';
import { stack } from './session';

// Resets the cache and its rules to a fresh state, since an earlier run may have changed them.
test.beforeEach(async ({ api, instances: [, second] }) => {
  const { is_enabled } = await api.get<{ is_enabled: boolean }>(`instances/${second.id}/cache/status`);
  if (is_enabled) await api.change(second.id, 'cache/disable');
  await api.change(second.id, 'changes', { parameters: { fqc_rules: null, fqc_observe: null } });
});

test('the cache is enabled in the guided flow, watched, and disabled', async ({
  page,
  instances: [, second],
}) => {
  await page.goto(`/instances/${second.id}/cache`);
  await expect(page.getByRole('listitem').filter({ hasText: 'FQC' })).toBeVisible();
  await page.getByRole('button', { name: 'Next' }).click();
  await page.getByRole('button', { name: 'Next' }).click();

  await page.getByRole('textbox', { name: 'Cache size' }).fill('3 potatoes');
  await expect(page.getByText('Enter a size such as 480 MiB.')).toBeVisible();
  await page.getByRole('textbox', { name: 'Cache size' }).fill('100 GiB');
  await expect(page.getByText(/^At most .* on this instance\.$/)).toBeVisible();
  await expect(page.getByRole('button', { name: 'Next' })).toBeDisabled();
  await page.getByRole('textbox', { name: 'Cache size' }).fill('16 MiB');
  await expect(page.getByLabel('Custom size')).toBeChecked();
  await page.reload();
  await expect(page.getByRole('textbox', { name: 'Cache size' })).toHaveValue('16 MiB');
  await expect(page.getByLabel('Custom size')).toBeChecked();
  await page.getByRole('button', { name: 'Next' }).click();
  await page.getByRole('button', { name: 'Next' }).click();

  await expect(page.getByText('query_cache_size').first()).toBeVisible();
  await expect(page.getByText('16777216').first()).toBeVisible();
  await page.getByRole('button', { name: 'Enable Fast Query Cache' }).click();

  // The change that was started stays at the top of the page, although the page below it changes.
  await expect(page.getByRole('region', { name: 'Enable the cache' })).toContainText('applied');
  await expect(page.getByRole('region', { name: 'Is it worth it?' })).toContainText('The cache is on.');
  await expect(page.getByRole('region', { name: 'Current effect' })).toContainText(
    /16 MiB, 1[56](\.\d+)? MiB free/,
  );

  await page.getByRole('button', { name: 'Disable' }).click();
  await page.getByRole('dialog').getByRole('button', { name: 'Disable' }).click();
  await expect(page.getByRole('region', { name: 'Disable the cache' })).toContainText('applied');
  await expect(page.getByRole('region', { name: 'Enable Fast Query Cache' })).toBeVisible();

  await page.getByRole('tab', { name: 'History' }).click();
  const [newest, before] = [page.getByRole('row').nth(1), page.getByRole('row').nth(2)];
  await expect(newest).toContainText('Disable the cache');
  await expect(newest).toContainText('applied');
  await expect(before).toContainText('Enable the cache');
  await expect(before).toContainText('applied');
});

test('what was enabled is told also when the server is faster than the answer', async ({
  page,
  instances: [, second],
}) => {
  // The response is held back until the page has noticed that the cache is on and shows other panels.
  const pays = page.getByRole('region', { name: 'Is it worth it?' });
  await page.route('**/cache/enable', async (route) => {
    const answer = await route.fetch();
    await pays.waitFor();
    await route.fulfill({ response: answer });
  });
  await page.goto(`/instances/${second.id}/cache?step=4`);
  await page.getByRole('button', { name: 'Enable Fast Query Cache' }).click();
  await expect(pays).toBeVisible();
  await expect(page.getByRole('region', { name: 'Enable the cache' })).toContainText('applied');
  await page.getByRole('button', { name: 'Disable' }).click();
  await page.getByRole('dialog').getByRole('button', { name: 'Disable' }).click();
  await expect(page.getByRole('region', { name: 'Disable the cache' })).toContainText('applied');
});

test('what the cache would do is observed with one click, and ends', async ({
  page,
  instances: [, second],
}) => {
  await page.goto(`/instances/${second.id}/cache?step=1`);
  const panel = page.getByRole('region', { name: 'Enable Fast Query Cache' });
  await panel.getByRole('button', { name: 'Observe for 1 hour' }).click();
  await expect(panel).toContainText('Observing until');
  await page.mouse.move(0, 0); // a tile that came under the pointer shows its formula
  await expectAccessible(page);
  await expectToFitPhone(page);
  await expect(async () => {
    if (await panel.getByRole('button', { name: 'Observe for 1 hour' }).isVisible()) return;
    await panel.getByRole('button', { name: 'Stop observing' }).click();
    await expect(panel.getByRole('button', { name: 'Observe for 1 hour' })).toBeVisible({ timeout: 2000 });
  }).toPass();
});

test('every step of the flow is accessible, and the rules of its size stand side by side', async ({
  page,
  instances: [, second],
}) => {
  const cache = `/instances/${second.id}/cache`;
  await page.goto(`${cache}?step=2`);
  const rules = page.getByRole('radiogroup', { name: 'query_cache_size' });
  for (const rule of ['10 % of the buffer pool', '20 % of the result sets', 'From the predicted curve'])
    await expect(rules.getByRole('radio', { name: rule })).toBeVisible();
  await page.getByLabel('Size of all result sets').fill('1 GiB');
  await expect(rules.getByRole('radio', { name: '20 % of the result sets' })).toBeChecked();
  await expect(rules).toContainText('204.8 MiB');
  await rules.getByRole('radio', { name: '10 % of the buffer pool' }).check();
  await expectAccessible(page);
  for (const step of [1, 3, 4]) {
    await page.goto(`${cache}?step=${step}`);
    await expect(page.getByRole('heading', { level: 1 })).toBeVisible(); // nothing is busy before it is there
    await expect(page.locator('[aria-busy="true"]')).toHaveCount(0);
    await expectAccessible(page);
  }
  await expectToFitPhone(page);
});

test('why there is no prediction is told: off, or no traffic yet', async ({
  page,
  api,
  instances: [, second],
}) => {
  // The engine remembers tables of earlier statements, even while it is off.
  await api.change(second.id, 'restart');
  await page.goto(`/instances/${second.id}/cache`);
  const curve = page.getByRole('region', { name: 'Predicted hit ratio by cache size' });
  await expect(curve).toContainText('No prediction yet');
  await expect(curve).toContainText('A prediction needs reads while the cache is on');
  await page.getByRole('tab', { name: 'Statements and tables' }).click();
  await expect(page.getByRole('region', { name: 'Tables in the cache' })).toContainText(
    'once the cache is on',
  );
  await page.getByRole('tab', { name: 'Overview' }).click();
  await expect(page.getByText('suspended')).toBeVisible();
});

test('rules are told in words, beside the cache that they are for', async ({
  page,
  instances: [, second],
}) => {
  const cache = `/instances/${second.id}/cache`;
  await page.goto(`${cache}?step=4`);
  await page.getByRole('button', { name: 'Enable Fast Query Cache' }).click();
  const rules = page.getByRole('region', { name: 'Rules' });
  await expect(rules).toContainText('none is served stale');

  await expect(rules.getByRole('link', { name: 'Edit rules' })).toBeVisible();
  await page.goto(`/instances/${second.id}/parameters?search=fqc_rules`);
  await page.getByRole('button', { name: 'Edit fqc_rules' }).click();
  await page
    .getByRole('textbox', { name: 'fqc_rules' })
    .fill('[{"table": "shop.ranking", "cache": "always", "ttl": 10}, {"schema": "shop", "cache": "never"}]');
  await page.getByRole('button', { name: 'Add to changes' }).click();
  await page.getByRole('button', { name: 'Review changes' }).click();
  await page.getByRole('button', { name: 'Apply now' }).click();
  await expect(page.getByRole('region', { name: /^Parameters on/ })).toContainText('applied');

  await page.goto(cache);
  await expect(rules).toContainText('table shop.ranking');
  await expect(rules).toContainText('served for up to 10 s despite writes');
  await expect(rules).toContainText('schema shop');
  await expect(rules).toContainText('never cached');
  await expect(rules).toContainText('0 stale results served so far');
  await expectAccessible(page);
  await expectToFitPhone(page);
  await page.getByRole('button', { name: 'Disable' }).click();
  await expect(page.getByRole('dialog')).toBeVisible();
  await expectAccessible(page);
  await page.getByRole('dialog').getByRole('button', { name: 'Disable' }).click();
  await expect(page.getByRole('region', { name: 'Disable the cache' })).toContainText('applied');
});

test('a trial has hits of its own before anything is set, and says why there are none; then the cache is enabled', async ({
  page,
  instances: [, second],
}) => {
  const cache = `/instances/${second.id}/cache`;
  await page.goto(`${cache}?step=3`);
  const run = page.getByRole('button', { name: 'Run the trial' });
  await whileReading(stack.server(second.id), async () => {
    await page.getByRole('textbox', { name: 'Statement' }).fill('SELECT name FROM demo.product WHERE id = 7');
    await expect(async () => {
      await run.click();
      await expect(run).toBeEnabled();
      await expect(page.getByText('All repetitions were served from the cache')).toBeVisible({
        timeout: 1000,
      });
    }).toPass();
  });
  await page
    .getByRole('textbox', { name: 'Statement' })
    .fill('SELECT COUNT(*) FROM information_schema.TABLES');
  await run.click();
  // A system table: the engine does not cache its reads, and the trial says so.
  await expect(page.getByRole('group', { name: 'Qcache_hits' })).toContainText('of 20 runs');
  await expect(page.getByText('The engine does not cache this statement')).toBeVisible();
  await page.getByRole('button', { name: 'Next' }).click();
  await page.getByRole('button', { name: 'Enable Fast Query Cache' }).click();
  await expect(page.getByRole('region', { name: 'Enable the cache' })).toContainText('applied');
  await expectAccessible(page);
  await page.getByRole('button', { name: 'Disable' }).click();
  await page.getByRole('dialog').getByRole('button', { name: 'Disable' }).click();
  await expect(page.getByRole('region', { name: 'Disable the cache' })).toContainText('applied');
});
