import { expectAccessible } from './accessible';
import { expect, test } from './console';
import { runOn } from './fleet';
import { stack } from './session';

declare global {
  interface Window {
    shifted: number;
  }
}

interface Parameters {
  items: { name: string; running: string; is_drifted: boolean }[];
}

test('what is not met in the checklist is mended by its button', async ({
  page,
  api,
  instances: [, second],
}) => {
  await api.change(second.id, 'proxy', { enabled: true });
  await page.goto(`/instances/${second.id}/overview`);
  const checklist = page.getByRole('region', { name: 'Prerequisites' });
  const proxy = checklist.getByRole('listitem').filter({ hasText: 'the dedicated proxy is enabled' });
  await expect(proxy).toContainText('blocking');
  await proxy.getByRole('button').click();
  await expect(page.getByRole('region', { name: /proxy on/ })).toContainText('applied');
  await page.getByRole('tab', { name: 'Overview' }).click();
  await expect(checklist).toContainText('FQC');
  await expect(checklist).not.toContainText('proxy');
});

test('what the server runs instead stands where it drifted, and the overview leads there', async ({
  page,
  api,
  instances: [, second],
}) => {
  const server = stack.server(second.id);
  await page.setViewportSize({ width: 390, height: 844 });
  const present = async () => {
    const { items } = await api.get<Parameters>(`instances/${second.id}/parameters`);
    return items.find(({ name }) => name === 'max_connections');
  };
  const former = (await present())?.running ?? '';
  await runOn(server, 'SET GLOBAL max_connections = 77');
  try {
    await expect.poll(async () => (await present())?.is_drifted).toBe(true);
    await page.goto(`/instances/${second.id}/overview`);
    await page.getByRole('link', { name: /^\d+ drifted$/ }).click();
    await expect(page.getByText('Running value: 77')).toBeVisible();
    await expectAccessible(page);
  } finally {
    await runOn(server, `SET GLOBAL max_connections = ${former}`);
  }
});

test('an instance is moved to a custom size, and back', async ({ page, api, instances: [, second] }) => {
  const before = await api.get<{ instance_class: string }>(`instances/${second.id}`);
  await page.goto(`/instances/${second.id}/overview`);
  await page.getByRole('button', { name: 'Actions' }).click();
  await page.getByRole('menuitem', { name: 'Change class' }).click();
  const form = page.getByRole('dialog');
  const submit = form.getByRole('button', { name: 'Change class' });
  await form.getByRole('combobox', { name: 'New class' }).click();
  await page.getByRole('option', { name: 'Custom size' }).click();
  await form.getByLabel(/^Memory/).fill('3 potatoes');
  await expect(submit).toBeDisabled();
  await form.getByLabel(/^Memory/).fill('3 GiB');
  await expect(submit).toBeDisabled();
  await form.getByLabel(/^CPUs/).fill('3');
  await form.getByLabel('New query_cache_size').fill('8 MiB');
  await expectAccessible(page);
  await submit.click();
  await expect(page).toHaveURL(/changes/);
  await expect
    .poll(async () => (await api.get<{ instance_class: string }>(`instances/${second.id}`)).instance_class)
    .toMatch(/^custom-3cpu-3GiB-/);
  await api.change(second.id, 'resize', {
    instance_class: before.instance_class,
    parameters: { query_cache_size: null },
  });
});

test('open incidents are among what needs attention', async ({ page, api, instances: [first] }) => {
  const rule = await api.alwaysFiringRule(first.id, `attention-${Date.now()}`, 'warning');
  try {
    await page.goto(`/instances/${first.id}/overview`);
    await page.getByRole('link', { name: /^\d+ incidents?$/ }).click();
    await expect(page).toHaveURL(/\/alerts\?show=open/);
    await expect(page.getByRole('radio', { name: 'Open' })).toBeChecked();
  } finally {
    await api.send('DELETE', `alert-rules/${rule}`);
  }
});

test('where the engine serves nothing, the reason stands in place of the button', async ({
  page,
  instances: [, second],
}) => {
  const cache = page.getByRole('region', { name: 'Fast Query Cache' });
  await page.goto(`/instances/${second.id}/overview`);
  await expect(cache.getByRole('link', { name: 'Enable' })).toBeVisible();

  // No server of this stack keeps its engine from serving, so the finding of one that does is added to the response.
  const idle = {
    severity: 'blocking',
    code: 'engine_idle',
    parameter: '',
    seen: 'the engine is installed, but does not serve here: a thread pool is loaded',
    needed: 'an engine that serves',
    remedy: 'Remove what is in the way, if it can be removed.',
    facts: { obstacle: 'a thread pool is loaded' },
    action: null,
  };
  const answer = await page.request.get(`/api/v1/instances/${second.id}/prerequisites`);
  const check = (await answer.json()) as { findings: object[] };
  const json = { ...check, is_ready: false, findings: [idle, ...check.findings] };
  await page.route(`**/instances/${second.id}/prerequisites`, (route) => route.fulfill({ json }));
  await page.reload();
  await expect(cache.getByRole('note')).toContainText('a thread pool is loaded');
  await expect(cache.getByRole('link', { name: 'Enable' })).toHaveCount(0);
  await expectAccessible(page);
});

for (const width of [1440, 390])
  test(`what needs attention comes without moving the overview, ${width} wide`, async ({
    page,
    instances: [first],
  }) => {
    let tell = () => {};
    const told = new Promise<void>((resolve) => (tell = resolve));
    await page.route('**/api/v1/incidents?*', async (route) => {
      await told;
      await route.fulfill({ json: { items: [{ id: 'inc-of-a-test' }], next: null, previous: null } });
    });
    await page.addInitScript(() => {
      window.shifted = 0;
      const add = (list: PerformanceObserverEntryList) => {
        for (const entry of list.getEntries())
          window.shifted += (entry as unknown as { value: number }).value;
      };
      new PerformanceObserver(add).observe({ type: 'layout-shift', buffered: true });
    });
    await page.setViewportSize({ width, height: 900 });
    await page.goto(`/instances/${first.id}/overview`);
    const panel = page.getByRole('region', { name: 'Prerequisites' });
    await expect(panel.getByRole('listitem').first()).toBeVisible();
    await expect(page.locator('main [aria-busy="true"]')).toHaveCount(0);
    const place = await panel.boundingBox();
    tell();
    await expect(page.getByText('Needs attention')).toBeVisible();
    expect(await panel.boundingBox()).toEqual(place);
    // Layout shift from the first byte on. Browser makers call less than a tenth good.
    expect(await page.evaluate(() => window.shifted)).toBeLessThan(0.1);
  });
