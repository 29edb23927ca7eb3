// Measures how many requests and bytes a page takes, which decides how fast it is on a slow line.
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

/**
 * Counts the responses that the browser receives while `open` runs, and their bytes as sent, compressed. The browser's
 * cache is off.
 */
async function weighed(page: Page, open: () => Promise<void>): Promise<Weight> {
  const weight = { requests: 0, bytes: 0 };
  const session: CDPSession = await page.context().newCDPSession(page);
  await session.send('Network.enable');
  await session.send('Network.setCacheDisabled', { cacheDisabled: true });
  session.on('Network.loadingFinished', ({ encodedDataLength }) => {
    // A picture inside the page has no bytes of its own on the network.
    weight.requests += encodedDataLength > 0 ? 1 : 0;
    weight.bytes += encodedDataLength;
  });
  await open();
  await session.detach();
  return weight;
}

/** The requests and bytes of opening the page at this path, until no part of it is loading. */
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
