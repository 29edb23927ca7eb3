// Mail goes to a real SMTP server that prints what it receives.
import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { connect, createServer } from 'node:net';
import { expect, test } from './console';
import { BACKEND, PYTHON } from './session';

const DBA = 'dba@example.com';

async function freePort(): Promise<number> {
  const listener = createServer().listen(0, '127.0.0.1');
  await once(listener, 'listening');
  const address = listener.address();
  listener.close();
  await once(listener, 'close');
  if (address === null || typeof address === 'string') throw new Error('There is no free port.');
  return address.port;
}

async function isListening(port: number): Promise<boolean> {
  const socket = connect(port, '127.0.0.1');
  try {
    await once(socket, 'connect');
    return true;
  } catch {
    return false;
  } finally {
    socket.destroy();
  }
}

let server: ChildProcess;
let port: number;
let received = '';

test.beforeAll(async () => {
  port = await freePort();
  const words = ['-u', '-m', 'aiosmtpd', '-n', '-l', `127.0.0.1:${port}`];
  server = spawn(PYTHON, words, { cwd: BACKEND, stdio: ['ignore', 'pipe', 'inherit'] });
  server.stdout?.on('data', (printed: Buffer) => (received += printed.toString()));
  await expect.poll(() => isListening(port)).toBe(true);
});

test.afterAll(async () => {
  server.kill('SIGTERM');
  await once(server, 'exit');
});

test('mail is set up, tested, and sent for an incident, whose timeline tells it', async ({
  page,
  api,
  instances: [first],
}) => {
  await page.goto('/settings');
  await page.getByLabel('SMTP server').fill('127.0.0.1');
  await page.getByLabel('Port').fill(String(port));
  await page.getByLabel('Recipients').fill(DBA);
  await page.getByRole('button', { name: 'Save' }).click();
  await expect(page.getByText('Settings saved.')).toBeVisible();
  await page.getByLabel('Send a test mail to').fill('tester@example.com');
  await page.getByRole('button', { name: 'Send test' }).click();
  await expect(page.getByText('Test mail sent to tester@example.com')).toBeVisible();
  await expect.poll(() => received).toContain('To: tester@example.com');

  const name = `e2e mail ${Date.now()}`;
  const rule = await api.alwaysFiringRule(first.id, name, 'warning');
  // Mails of other incidents may arrive first.
  await expect.poll(() => received).toContain(name);
  expect(received).toContain(`To: ${DBA}`);
  await page.goto('/alerts?show=all');
  await page.getByRole('row').filter({ hasText: name }).getByRole('button').first().click();
  await expect(async () => {
    await page.reload();
    await expect(page.getByRole('dialog', { name: 'Incident' })).toContainText('Mail sent', {
      timeout: 5_000,
    });
  }).toPass();
  await api.send('DELETE', `alert-rules/${rule}`);
  await api.send('PATCH', 'settings', { smtp_host: '', mail_to: [] });
});

test('another mail server is saved with its password', async ({ page, api }) => {
  const kept = { smtp_host: '127.0.0.1', smtp_port: port, smtp_security: 'none', smtp_password: 'kept' };
  await api.send('PATCH', 'settings', kept);
  await page.goto('/settings');
  const password = page.getByLabel(/^Password/);
  await expect(password).toHaveAccessibleDescription(/Leave empty/);
  await page.getByLabel('SMTP server').fill('localhost');
  await expect(password).toHaveAccessibleDescription(/Enter the password again/);
  await page.getByRole('button', { name: 'Save' }).click();
  await expect(page.getByText('Settings saved.')).toBeHidden();
  await password.fill('again');
  await page.getByRole('button', { name: 'Save' }).click();
  await expect(page.getByText('Settings saved.')).toBeVisible();
  await api.send('PATCH', 'settings', { smtp_host: '', smtp_password: '' });
});
