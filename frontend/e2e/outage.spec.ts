import { once } from 'node:events';
import { connect, createServer, type AddressInfo, type Socket } from 'node:net';
import { expect, test } from './console';
import { stack } from './session';

test('an API that is down is told once, not stormed, and recovered from', async ({
  page,
  instances: [first],
}) => {
  // Installed before the page loads, because timers that exist before are not controlled.
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
  const banner = page.getByRole('alert').filter({ hasText: 'The control plane is not responding' });
  await expect(banner).toBeVisible();

  attempts = 0;
  await page.clock.fastForward(60_000);
  expect(attempts).toBeLessThan(15);

  // With the clock paused no request is sent automatically, so recovery can only come from the click.
  await page.clock.pauseAt(Date.now() + 3_600_000);
  // The jump of the clock may have started one more request. This request is refused after it, so none is pending then.
  await page.evaluate(() => fetch('/readyz').catch(() => undefined));
  await page.unroute(isOurs);
  await banner.getByRole('button', { name: 'Try again' }).click();
  await page.clock.resume();
  await expect(banner).toBeHidden();
  await expect(page.getByRole('link', { name: first.name })).toBeVisible();
});

/**
 * Starts a proxy to the stack. `cut` closes it with all its connections, so that the API is down for a browser that
 * uses `url`; `mend` opens it again at the same port.
 */
async function bridge() {
  const to = new URL(stack.url());
  const open = new Set<Socket>();
  const server = createServer((near) => {
    const far = connect(Number(to.port), to.hostname);
    for (const [socket, other] of [
      [near, far],
      [far, near],
    ] as const) {
      open.add(socket);
      socket.on('error', () => other.destroy());
      socket.on('close', () => open.delete(socket) && other.destroy());
      socket.pipe(other);
    }
  });
  const listen = async (port: number) => {
    server.listen(port, '127.0.0.1');
    await once(server, 'listening');
  };
  await listen(0);
  const { port } = server.address() as AddressInfo;
  const cut = async () => {
    const closed = once(server, 'close');
    server.close();
    for (const socket of open) socket.destroy();
    await closed;
  };
  return { url: `http://127.0.0.1:${port}`, cut, mend: () => listen(port) };
}

test('a page that asks nothing by itself tells of an API that is down, and its stream waits for the end', async ({
  page,
}) => {
  const way = await bridge();
  const isStream = (sent: { url: () => string }) => sent.url().includes('/api/v1/events');
  const stream = page.waitForResponse(isStream);
  await page.goto(`${way.url}/templates`);
  await expect(page.getByRole('table')).toBeVisible();
  await stream;
  await way.cut();
  const banner = page.getByRole('alert').filter({ hasText: 'The control plane is not responding' });
  await expect(banner).toBeVisible();

  let streams = 0;
  page.on('request', (request) => isStream(request) && (streams += 1));
  // A browser would retry the stream every three seconds on its own.
  for (let probe = 0; probe < 3; probe++)
    await page.waitForEvent('requestfailed', (request) => request.url().endsWith('/readyz'));
  expect(streams).toBe(0);

  const again = page.waitForResponse(isStream);
  await way.mend();
  await banner.getByRole('button', { name: 'Try again' }).click();
  await expect(banner).toBeHidden();
  await again;
  await way.cut();
});
