// Channels send to a real receiver over HTTP; the backend's tests try each kind and every way to fail.
import { createHmac } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type IncomingHttpHeaders } from 'node:http';
import { expectAccessible } from './accessible';
import { expect, test } from './console';

const KEY = 'a-key-to-sign-messages-with';

interface Received {
  headers: IncomingHttpHeaders;
  body: string;
}

const received: Received[] = [];
let status = 200;
let address = '';
const receiver = createServer((request, response) => {
  let body = '';
  request.on('data', (part: Buffer) => (body += part.toString()));
  request.on('end', () => {
    received.push({ headers: request.headers, body });
    response.writeHead(status).end();
  });
});

test.beforeAll(async () => {
  receiver.listen(0, '127.0.0.1');
  await once(receiver, 'listening');
  const at = receiver.address();
  if (at === null || typeof at === 'string') throw new Error('The receiver has no port.');
  address = `http://127.0.0.1:${at.port}/fqc`;
});

test.afterAll(async () => {
  receiver.close();
  await once(receiver, 'close');
});

function told(event: string, instance?: string): Received | undefined {
  return received.find(({ body }) => {
    const said = JSON.parse(body) as { event: string; instance?: { name: string } };
    return said.event === event && (instance === undefined || said.instance?.name === instance);
  });
}

test('a channel is made, tested, told of an incident with its tag, and says what its receiver refused', async ({
  page,
  api,
  instances: [first],
}) => {
  const name = `e2e channel ${Date.now()}`;
  const { channel_networks: networks } = await api.get<{ channel_networks: string[] }>('settings');
  await api.send('PATCH', 'settings', { channel_networks: ['127.0.0.0/8'] });
  await api.send('PATCH', `instances/${first.id}`, { tags: { channel: 'e2e' } });

  await page.goto('/alerts?tab=channels');
  await page.getByRole('button', { name: 'New channel' }).click();
  const form = page.getByRole('dialog', { name: 'New channel' });
  await form.getByLabel('Name').fill(name);
  await form.getByRole('textbox', { name: 'Address' }).fill(address);
  await form.getByLabel('Signing key').fill(KEY);
  await form.getByLabel('Tags').fill('channel:e2e');
  await expectAccessible(page);
  await form.getByRole('button', { name: 'Save' }).click();
  const row = page.getByRole('row').filter({ hasText: name });
  await expect(row).toContainText('channel:e2e');

  const send = page.getByRole('button', { name: `Send a test to ${name}` });
  await send.click();
  await expect(page.getByText(`Test sent to ${name}.`)).toBeVisible();
  const { headers, body } = told('test') ?? { headers: {}, body: '' };
  const signed = createHmac('sha256', KEY)
    .update(`${String(headers['fqc-timestamp'])}.${body}`)
    .digest('hex');
  expect(headers['fqc-signature']).toBe(`v1=${signed}`);

  const rule = await api.alwaysFiringRule(first.id, name, 'warning');
  await expect.poll(() => told('opened', first.name)).toBeDefined();
  await page.goto('/alerts?show=all');
  await page.getByRole('row').filter({ hasText: name }).getByRole('button').first().click();
  const incident = page.getByRole('dialog', { name: 'Incident' });
  await expect(incident).toContainText('Channel notified');
  await expect(incident).toContainText('Likely cause');
  await expect(incident.locator('.recharts-surface').first()).toBeVisible();

  status = 404;
  await page.goto('/alerts?tab=channels');
  await send.click();
  await expect(page.getByRole('alert')).toContainText('404');
  await api.send('DELETE', `alert-rules/${rule}`);
  await page.getByRole('button', { name: `Delete channel ${name}?` }).click();
  await page.getByRole('dialog').getByRole('button', { name: 'Delete' }).click();
  await expect(row).toBeHidden();
  await api.send('PATCH', `instances/${first.id}`, { tags: {} });
  await api.send('PATCH', 'settings', { channel_networks: networks });
});
