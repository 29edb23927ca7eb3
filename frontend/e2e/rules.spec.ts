import { expectAccessible, expectToFitPhone } from './accessible';
import { expect, test } from './console';
import { whileReading } from './fleet';
import { stack } from './session';

const ON = { parameters: { query_cache_size: '16777216', query_cache_type: '1' } };
const OFF = { parameters: { fqc_rules: null, query_cache_size: '0', query_cache_type: '0' } };

test.beforeEach(async ({ api, afterwards, instances: [, second] }) => {
  await api.change(second.id, 'changes', OFF);
  afterwards(() => api.change(second.id, 'changes', OFF));
  await api.change(second.id, 'changes', ON);
});

test('a statement is looked at, and a rule for it is explained and applied', async ({
  page,
  instances: [, second],
}) => {
  await whileReading(stack.server(second.id), async () => {
    const open = page.getByRole('button', { name: /^Show the statement: SELECT/ }).first();
    await expect(async () => {
      await page.goto(`/instances/${second.id}/queries`);
      await expect(open).toBeVisible({ timeout: 5_000 });
    }).toPass();
    await open.click();
    const drawer = page.getByRole('dialog', { name: 'Statement' });
    await expect(drawer.getByRole('button', { name: 'Copy' }).first()).toBeVisible();
    await expect(drawer.getByRole('region', { name: 'Why not cached' })).toBeVisible();
    await expect(page).toHaveURL(/statement=/);
    await expectAccessible(page);
    await drawer.getByRole('link', { name: 'Never cache this' }).click();
    const rule = page.getByRole('listitem', { name: 'Rule 1' });
    await expect(rule).toContainText(/Matches 1 of \d+ statements\./);
    await expect(page.getByText('this change empties the cache (fqc_rules)')).toBeVisible();
    await page.getByRole('button', { name: 'Apply now' }).click();
    await expect(page.getByRole('region', { name: /^Parameters on/ })).toContainText('applied');
  });
  await page.goto(`/instances/${second.id}/rules`);
  await expect(page.getByRole('listitem', { name: 'Rule 1' })).toContainText('Matches');
  await page.goto(`/instances/${second.id}/history`);
  await expect(page.getByText(/^fqc_rules .* → \[\{"digest":/).first()).toBeVisible();
});

test('a wrong rule is told at its row, and nothing can be applied until it is right', async ({
  page,
  instances: [, second],
}) => {
  await page.goto(`/instances/${second.id}/rules`);
  await page.getByRole('button', { name: 'Add a rule' }).click();
  const rule = page.getByRole('listitem', { name: 'Rule 1' });
  await expect(rule).toContainText('name a digest, table, schema or account');
  await rule.getByLabel('Table').fill('stock');
  await expect(rule).toContainText('write a table as schema.table');
  await expect(page.getByRole('button', { name: 'Apply now' })).toBeDisabled();
  await expectAccessible(page);
  await expectToFitPhone(page);
  await rule.getByLabel('Table').fill('shop.stock');
  await expect(rule).toContainText(/Matches \d+ of \d+ statements/);
  await page.getByRole('button', { name: 'Add a rule' }).click();
  await page.getByRole('listitem', { name: 'Rule 2' }).getByLabel('Schema').fill('shop');
  await page.getByRole('button', { name: 'Move rule 2 up' }).click();
  await expect(rule.getByLabel('Schema')).toHaveValue('shop');
  await page.getByRole('button', { name: 'Apply now' }).click();
  await expect(page.getByRole('region', { name: /^Parameters on/ })).toContainText('applied');
  await page.goto(`/instances/${second.id}/cache`);
  await expect(page.getByRole('region', { name: 'Rules' })).toContainText('schema shop');
});
