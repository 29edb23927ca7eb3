// Messages of the API are shown in Chinese, too: translated by their codes, with their figures and names.
import { expectAccessible, expectToFitPhone } from './accessible';
import { expect, test } from './console';

test.use({ locale: 'zh-CN' });

test('findings are told in Chinese, with what was seen', async ({ page, instances: [, second] }) => {
  await page.goto(`/instances/${second.id}/cache?step=0`);
  const engine = page.getByRole('listitem').filter({ hasText: '引擎版本符合要求' });
  await expect(engine).toContainText('FQC');
  await expect(page.getByText('服务器受支持')).toBeVisible();
  await expectAccessible(page);
  await expectToFitPhone(page);
});

test('what was refused is told in Chinese, at the form and at its field', async ({
  page,
  instances: [first],
}) => {
  const form = page.getByRole('dialog');
  await page.goto('/templates');
  await page.getByRole('button', { name: '新建模板' }).click();
  await form.getByLabel('名称').fill('managed-defaults');
  await form.getByRole('button', { name: '新建' }).click();
  await expect(form.getByRole('alert')).toContainText('名称已被使用');
  await expect(form.getByRole('alert')).toContainText('choose another name');

  await page.goto(`/instances/${first.id}/parameters?set=${encodeURIComponent('{"read_only":"perhaps"}')}`);
  const review = page.getByRole('dialog');
  await expect(review).toContainText('类型不符');
  await expect(review).toContainText("'perhaps' 的类型不符");
  await expectAccessible(page);
});

test('parameters are described in Chinese, and found by it', async ({ page, instances: [first] }) => {
  await page.goto(`/instances/${first.id}/parameters?search=${encodeURIComponent('缓存结果所用的内存')}`);
  await page.getByRole('button', { name: '编辑 query_cache_size' }).click();
  await expect(page.getByText('填写字面值时不随规格变化')).toBeVisible();
  await expectAccessible(page);
});
