// A scheduled change runs when its time comes, and not before.
import type { Page } from '@playwright/test';
import type { Api } from './fleet';
import { expect, test, type Instance } from './console';

const MINUTE_MS = 60_000;
// The time to wait for a scheduled change in ms, which is enough even if the next minute has just started.
const OPENING_MS = 240_000;

interface Change {
  started_at: string;
  not_before: string;
}

/** The change set whose page is open. */
async function changeOf(page: Page, api: Api): Promise<Change> {
  return api.get<Change>(`changes/${new URL(page.url()).pathname.split('/').at(-1)}`);
}

/**
 * Opens the review of a change that sets `net_read_timeout` to a new value. Returns the drawer of the review and the
 * value.
 */
async function review(page: Page, instance: Instance) {
  const value = String(20_000 + (Date.now() % 10_000));
  const set = encodeURIComponent(JSON.stringify({ net_read_timeout: value }));
  await page.goto(`/instances/${instance.id}/parameters?set=${set}`);
  const drawer = page.getByRole('dialog');
  await expect(drawer.getByRole('button', { name: 'Apply now' })).toBeEnabled();
  return { drawer, value };
}

/** Expects that the instance's server runs with this value of `net_read_timeout`. */
async function expectRunning(api: Api, instance: Instance, value: string): Promise<void> {
  interface Parameters {
    items: { name: string; running: string | null }[];
  }
  const { items } = await api.get<Parameters>(`instances/${instance.id}/parameters`);
  expect(items.find(({ name }) => name === 'net_read_timeout')?.running).toBe(value);
}

/**
 * Sets the instance's maintenance window in the console, to open at `opening` (milliseconds, a whole minute) for 15
 * minutes.
 */
async function setWindow(page: Page, instance: Instance, opening: number): Promise<void> {
  await page.goto(`/instances/${instance.id}/overview`);
  await page.getByRole('button', { name: 'Actions' }).click();
  await page.getByRole('menuitem', { name: 'Edit' }).click();
  const form = page.getByRole('dialog');
  await form.getByLabel('Start (UTC)').fill(new Date(opening).toISOString().slice(11, 16));
  await form.getByLabel('Duration (minutes)').fill('15');
  await form.getByRole('button', { name: 'Save' }).click();
  await expect(form).toBeHidden();
}

/** The start of the next minute, in milliseconds since 1970. */
function nextMinute(): number {
  return Math.ceil(Date.now() / MINUTE_MS) * MINUTE_MS;
}

test.beforeEach(({ afterwards, instances }) => {
  afterwards(async (api) => {
    for (const { id } of instances) {
      await api.change(id, 'changes', { parameters: { net_read_timeout: null } });
      await api.send('PATCH', `instances/${id}`, {
        maintenance_window: { weekday: null, start: '02:00', minutes: 60 },
      });
    }
  });
});

test('a change runs by itself when its time has come, and when the maintenance window opens', async ({
  page,
  api,
  instances: [first, second],
}) => {
  // The time at which both changes start, so that the test waits only once.
  const opening = nextMinute();
  await setWindow(page, first, opening);
  const inWindow = await review(page, first);
  await inWindow.drawer.getByText('In the maintenance window').click();
  await expect(inWindow.drawer.getByRole('status').filter({ hasText: '15 min' })).toBeVisible();
  await inWindow.drawer.getByRole('button', { name: 'Schedule' }).click();
  await expect(page).toHaveURL(/\/changes\//);
  const ofWindow = page.url();

  const atTime = await review(page, second);
  await atTime.drawer.getByText('At a set time').click();
  // The same time as the viewer's local time, which the input takes.
  const local = new Date(opening - new Date(opening).getTimezoneOffset() * MINUTE_MS).toISOString();
  await atTime.drawer.getByLabel('At a set time').last().fill(local.slice(0, 16));
  await atTime.drawer.getByRole('button', { name: 'Schedule' }).click();

  const applied = page.getByText('applied', { exact: true });
  await expect(applied).toBeVisible({ timeout: OPENING_MS });
  expect(Date.parse((await changeOf(page, api)).started_at)).toBeGreaterThanOrEqual(opening);
  await expectRunning(api, second, atTime.value);

  await page.goto(ofWindow);
  await expect(applied).toBeVisible();
  expect(Date.parse((await changeOf(page, api)).started_at)).toBeGreaterThanOrEqual(opening);
  await expectRunning(api, first, inWindow.value);
});

test('a change waits for a window that is closed, and may be brought forward', async ({
  page,
  api,
  instances: [first],
}) => {
  const opening = nextMinute() + 120 * MINUTE_MS;
  await setWindow(page, first, opening);
  const { drawer, value } = await review(page, first);
  await drawer.getByText('In the maintenance window').click();
  const told = drawer.getByRole('status').filter({ hasText: 'Next window' });
  await expect(told.getByRole('time')).toHaveAttribute('datetime', new Date(opening).toISOString());
  await drawer.getByRole('button', { name: 'Schedule' }).click();
  await expect(page.getByText(/Waiting until/)).toBeVisible();
  const { not_before } = await changeOf(page, api);
  expect(Date.parse(not_before)).toBe(opening);
  await page.getByRole('button', { name: 'Apply now' }).click();
  await expect(page.getByText('applied', { exact: true })).toBeVisible();
  await expectRunning(api, first, value);
});
