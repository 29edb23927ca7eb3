// What a page takes on a slow line: few requests, and few bytes on the way.
import { expect, test } from './console';
import type { CDPSession, Page } from '@playwright/test';

const FIRST = { requests: 15, bytes: 300_000 };
const ANY_BYTES = 500_000;
const ROOMS = ['overview', 'parameters', 'monitoring', 'queries', 'near', 'cache', 'history', 'alerts'];
const PAGES = ['/templates', '/alerts', '/audit', '/access', '/settings'];

interface Weight {
  requests: number;
  bytes: number;
}

/** What the browser received, as it came over the network. */
async function weighed(page: Page, open: () => Promise<void>): Promise<Weight> {
  const weight = { requests: 0, bytes: 0 };
  const session: CDPSession = await page.context().newCDPSession(page);
  await session.send('Network.enable');
  await session.send('Network.setCacheDisabled', { cacheDisabled: true });
  session.on('Network.loadingFinished', ({ encodedDataLength }) => {
    // What the page has within itself, such as a picture, comes over no network.
    weight.requests += encodedDataLength > 0 ? 1 : 0;
    weight.bytes += encodedDataLength;
  });
  await open();
  await session.detach();
  return weight;
}

async function opened(page: Page, path: string): Promise<Weight> {
  return weighed(page, async () => {
    await page.goto(path);
    await expect(page.getByRole('heading', { level: 1 })).toBeVisible();
    await expect(page.locator('.mantine-Skeleton-root')).toHaveCount(0);
  });
}

test('the first page takes few requests and few bytes', async ({ page }) => {
  const found = await weighed(page, async () => {
    await page.goto('/fleet');
    await expect(page.getByRole('row').nth(1)).toBeVisible();
  });
  expect(found.requests).toBeLessThanOrEqual(FIRST.requests);
  expect(found.bytes).toBeLessThanOrEqual(FIRST.bytes);
});

test('no page takes more than half a megabyte', async ({ browser, instances: [instance] }) => {
  for (const path of [...ROOMS.map((room) => `/instances/${instance.id}/${room}`), ...PAGES]) {
    const page = await browser.newPage();
    expect((await opened(page, path)).bytes, path).toBeLessThanOrEqual(ANY_BYTES);
    await page.close();
  }
});
