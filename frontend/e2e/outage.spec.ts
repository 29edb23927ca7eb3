import { expect, test } from './console';

test('an API that is down is told once, not stormed, and recovered from', async ({
  page,
  instances: [first],
}) => {
  // From the beginning: timers that a page has set before are not held by it.
  await page.clock.install();
  await page.goto('/fleet');
  await expect(page.getByRole('link', { name: first.name })).toBeVisible();
  let attempts = 0;
  const isOurs = (url: URL) => url.pathname.startsWith('/api/') || url.pathname === '/readyz';
  await page.route(isOurs, (route) => {
    attempts += 1;
    return route.abort('connectionrefused');
  });
  await page.getByLabel('Search name or host').fill(first.name);
  const banner = page.getByRole('alert').filter({ hasText: 'The control plane does not answer' });
  await expect(banner).toBeVisible();

  attempts = 0;
  await page.clock.fastForward(60_000);
  expect(attempts).toBeLessThan(15);

  // Nothing is asked by itself any more: what recovers now does so because somebody asked.
  await page.clock.pauseAt(Date.now() + 3_600_000);
  // The leap may have let one more begin. This one is refused after it, so then none is under way.
  await page.evaluate(() => fetch('/readyz').catch(() => undefined));
  await page.unroute(isOurs);
  await banner.getByRole('button', { name: 'Try again' }).click();
  await page.clock.resume();
  await expect(banner).toBeHidden();
  await expect(page.getByRole('link', { name: first.name })).toBeVisible();
});
