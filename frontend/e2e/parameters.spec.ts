import { expectAccessible } from './accessible';
import { expect, test } from './console';

test('a parameter is changed by keyboard, followed to the end, and rolled back', async ({
  page,
  instances: [first],
}) => {
  // The new value of the parameter, different in every run, because a value that is set already would be no change.
  const expression = `{DBInstanceClassCPU*${2 + (Date.now() % 60)}}`;
  await page.goto(`/instances/${first.id}/parameters?search=thread_cache_size`);
  const cell = page.getByRole('button', { name: 'Edit thread_cache_size' });
  const before = (await cell.textContent()) ?? '';
  await cell.focus();
  await page.keyboard.press('Enter');
  const input = page.getByRole('textbox', { name: 'thread_cache_size' });
  await expect(input).toBeFocused();

  await input.fill('999999999');
  await expect(page.getByText(/Must be within/)).toBeVisible();
  await input.fill('{DBInstanceClassCPU*16+');
  await expect(page.getByText(/Found .*, expected/)).toBeVisible();
  await input.fill(expression);
  await expect(page.getByText(/on class/)).toBeVisible();
  await page.keyboard.press('Enter');

  await expect(page.getByText('1 change not applied')).toBeVisible();
  await page.getByRole('button', { name: 'Review changes' }).click();
  const review = page.getByRole('dialog', { name: /^Review changes/ });
  await expect(review.getByText(expression)).toBeVisible();
  await review.getByRole('button', { name: 'Apply now' }).click();

  await expect(page).toHaveURL(/\/changes\//);
  await expect(page.getByText('applied', { exact: true })).toBeVisible();
  await expect(page.getByText('Set thread_cache_size')).toBeVisible();

  await page.getByRole('button', { name: 'Roll back' }).click();
  await page.getByRole('dialog').getByRole('button', { name: 'Roll back' }).click();
  await expect(page.getByRole('heading', { name: `Roll back on ${first.name}` })).toBeVisible();
  const approve = page.getByRole('button', { name: 'Approve' });
  const applied = page.getByText('applied', { exact: true });
  await expect(approve.or(applied)).toBeVisible();
  if (await approve.isVisible()) await approve.click();
  await expect(applied).toBeVisible();

  await page.goto(`/instances/${first.id}/parameters?search=thread_cache_size`);
  await expect(page.getByRole('button', { name: 'Edit thread_cache_size' })).toHaveText(before);
});

test('a prepared change of an address opens for review and is not applied by itself', async ({
  page,
  instances: [first],
}) => {
  const set = encodeURIComponent(JSON.stringify({ wait_timeout: '28801' }));
  await page.goto(`/instances/${first.id}/parameters?set=${set}`);
  const review = page.getByRole('dialog', { name: /^Review changes/ });
  await expect(review.getByText('wait_timeout', { exact: true })).toBeVisible();
  await expect(review.getByRole('button', { name: 'Apply now' })).toBeEnabled();
  await review.getByRole('button', { name: 'Back to editing' }).click();
  await expect(page).not.toHaveURL(/set=/);
  await page.reload();
  await expect(page.getByText('1 change not applied')).toBeVisible();
  await page.getByRole('button', { name: 'Discard', exact: true }).click();
  await expect(page.getByText(/not applied/)).toBeHidden();
});

test('a prepared change that was discarded does not come back with a reload', async ({
  page,
  instances: [first],
}) => {
  const set = encodeURIComponent(JSON.stringify({ wait_timeout: '28801' }));
  await page.goto(`/instances/${first.id}/parameters?set=${set}`);
  await page.getByRole('dialog').getByRole('button', { name: 'Back to editing' }).click();
  await page.getByRole('button', { name: 'Discard', exact: true }).click();
  await page.reload();
  await expect(page.getByRole('table', { name: 'Parameters' })).toBeVisible();
  await expect(page.getByText(/not applied/)).toBeHidden();
  await expect(page.getByRole('dialog')).toBeHidden();
});

test('an expression is tried out also for what a server has beyond its engine line', async ({
  page,
  instances: [first],
}) => {
  await page.goto(`/instances/${first.id}/parameters?search=aria_checkpoint_interval`);
  await page.getByRole('button', { name: 'Edit aria_checkpoint_interval' }).click();
  const input = page.getByRole('textbox', { name: 'aria_checkpoint_interval' });
  const form = page.getByRole('dialog');
  await input.fill('{DBInstanceClassCPU*60}');
  await expect(form).toContainText('on class');
  await expect(form).not.toContainText('is not a parameter');
  await input.fill('{DBInstanceClassMemory*1000}');
  await expect(form).toContainText('is above the maximum of');
});

test('what is configured already is no change, prepared or typed', async ({
  page,
  api,
  instances: [first],
}) => {
  await api.change(first.id, 'changes', { parameters: { wait_timeout: '28804' } });
  const set = encodeURIComponent(JSON.stringify({ wait_timeout: '28804' }));
  await page.goto(`/instances/${first.id}/parameters?search=wait_timeout&set=${set}`);
  const review = page.getByRole('dialog', { name: /^Review changes/ });
  await expect(review).toContainText('No changes');
  await expect(review.getByRole('button', { name: 'Apply now' })).toBeDisabled();
  await review.getByRole('button', { name: 'Back to editing' }).click();
  await page.getByRole('button', { name: /^Edit wait_timeout( |$)/ }).click();
  await page.getByRole('textbox', { name: 'wait_timeout', exact: true }).fill('28804');
  await page.getByRole('button', { name: 'Add to changes' }).click();
  await expect(page.getByText(/not applied/)).toBeHidden();
  await api.change(first.id, 'changes', { parameters: { wait_timeout: null } });
});

test('a set is chosen name by name and keeps the names that it had', async ({ page, instances: [first] }) => {
  await page.goto(`/instances/${first.id}/parameters?search=sql_mode`);
  await page.getByRole('button', { name: 'Edit sql_mode' }).click();
  const form = page.getByRole('dialog');
  await expect(form.getByText('STRICT_TRANS_TABLES', { exact: true }).first()).toBeVisible();
  await form.getByRole('combobox', { name: 'sql_mode' }).fill('no_zero_in');
  await page.getByRole('option', { name: 'NO_ZERO_IN_DATE' }).click();
  await form.getByRole('button', { name: 'Add to changes' }).click();
  await page.getByRole('button', { name: 'Review changes' }).click();
  const review = page.getByRole('dialog', { name: /^Review changes/ });
  await expect(review).toContainText(
    /STRICT_TRANS_TABLES.*NO_ZERO_IN_DATE|NO_ZERO_IN_DATE.*STRICT_TRANS_TABLES/,
  );
});

test('a review offers the restart that a parameter needs', async ({ page, instances: [first] }) => {
  const set = encodeURIComponent(JSON.stringify({ back_log: '77' }));
  await page.goto(`/instances/${first.id}/parameters?search=back_log&set=${set}`);
  const review = page.getByRole('dialog', { name: /^Review changes/ });
  await expect(review).toContainText('will wait for a restart');
  await review.getByRole('switch', { name: /^Restart the server/ }).click({ force: true });
  await expect(review).not.toContainText('will wait for a restart');
  await review.getByText('on the server').click();
  await expect(review).toContainText('Restart the server');
});

test('values are found, edited, dropped and reviewed without a mouse', async ({
  page,
  instances: [first],
}) => {
  await page.goto(`/instances/${first.id}/parameters?search=thread_`);
  const cell = (name: string) => page.getByRole('button', { name: `Edit ${name}` });
  const press = (key: string) => page.keyboard.press(key);
  await cell('thread_cache_size').focus();
  await press('ArrowDown');
  await expect(cell('thread_cache_size')).not.toBeFocused();
  await press('ArrowUp');
  await expect(cell('thread_cache_size')).toBeFocused();

  await press('Enter');
  const input = page.getByRole('textbox', { name: 'thread_cache_size' });
  await expect(input).toBeFocused();
  await expectAccessible(page);
  await press('Escape');
  await expect(input).toBeHidden();
  await expect(cell('thread_cache_size')).toBeFocused();

  await press('Enter');
  await input.fill(String(300 + (Date.now() % 1000)));
  await press('Enter');
  await expect(cell('thread_cache_size')).toBeFocused();
  await expect(page.getByText('1 change not applied')).toBeVisible();
  await press('Tab');
  await expect(page.getByRole('button', { name: 'Discard the change of thread_cache_size' })).toBeFocused();
  await page.getByRole('button', { name: 'Review changes' }).focus();
  await press('Enter');
  const review = page.getByRole('dialog', { name: /^Review changes/ });
  await expect(review.getByRole('button', { name: 'Apply now' })).toBeEnabled();
  await press('Escape');
  await expect(review).toBeHidden();
  await page.getByRole('button', { name: 'Discard the change of thread_cache_size' }).focus();
  await press('Enter');
  await expect(page.getByText(/not applied/)).toBeHidden();
});

test('one of several choices is taken by keys alone, and the review is one key away from any row', async ({
  page,
  instances: [first],
}) => {
  const press = (key: string) => page.keyboard.press(key);
  const cell = page.getByRole('button', { name: 'Edit binlog_row_image' });
  const select = page.getByRole('combobox', { name: 'binlog_row_image' });
  await page.goto(`/instances/${first.id}/parameters?search=binlog_row_image`);
  await cell.focus();
  await press('Enter');
  await expect(select).toBeFocused();
  await press('m');
  await expect(select).toHaveValue('MINIMAL');
  await press('Enter');
  await expect(cell).toBeFocused();
  await expect(cell).toContainText('MINIMAL');

  // At a scroll position far from the end of the list.
  await page.getByPlaceholder('Search name or description').fill('');
  const other = page.getByRole('button', { name: 'Edit analyze_max_length' });
  await other.focus();
  await press('Tab');
  await expect(page.getByRole('button', { name: 'Review changes' })).toBeFocused();
  await other.focus();
  await press('ArrowDown');
  await expect(page.getByRole('button', { name: 'Edit analyze_sample_percentage' })).toBeFocused();
  await page.getByRole('button', { name: 'Discard', exact: true }).click();
});

test('a value is reset to its default, which then runs', async ({ page, api, instances: [first] }) => {
  interface Parameter {
    name: string;
    configured: string | null;
    running: string | null;
    default: string | null;
  }
  const parameter = async () => {
    const { items } = await api.get<{ items: Parameter[] }>(`instances/${first.id}/parameters`);
    return items.find(({ name }) => name === 'net_retry_count');
  };
  await api.change(first.id, 'changes', { parameters: { net_retry_count: '77' } });
  expect((await parameter())?.running).toBe('77');
  await page.goto(`/instances/${first.id}/parameters?search=net_retry_count`);
  const cell = page.getByRole('button', { name: 'Edit net_retry_count' });
  await cell.focus();
  await page.keyboard.press('Enter');
  const reset = page.getByRole('button', { name: 'Reset to default' });
  await reset.focus();
  await page.keyboard.press('Enter');
  await expect(cell).toBeFocused();
  await expect(cell).toContainText('default');
  await page.getByRole('button', { name: 'Review changes' }).click();
  const review = page.getByRole('dialog', { name: /^Review changes/ });
  await expect(review).toContainText('77');
  await expect(review).toContainText('default');
  await review.getByRole('button', { name: 'Apply now' }).click();
  await expect(page.getByText('applied', { exact: true })).toBeVisible();
  const after = await parameter();
  expect(after?.default).not.toBe('77');
  expect(after).toMatchObject({ configured: null, running: after?.default });
  // There is nothing left to reset.
  await page.goto(`/instances/${first.id}/parameters?search=net_retry_count`);
  await cell.click();
  await expect(reset).toBeDisabled();
});
