// Starts the whole product before the tests and stops it afterwards, through the backend's own supervisor. FQC_E2E_URL,
// FQC_E2E_USER, FQC_E2E_PASSWORD and FQC_E2E_SERVERS (the instances of `up --json`) name a stack that is already
// running; then nothing is started or stopped. FQC_E2E_RUN_DIR is the folder of that stack, for tests that write to its
// database.
import { execFile } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { request } from '@playwright/test';
import { BACKEND, PYTHON, SESSION_FILE, stack, WORKERS, type Server } from './session';

const run = promisify(execFile);
const START_LIMIT_MS = 600_000;

interface Started {
  address?: string;
  url?: string;
  admin: { username: string; password: string };
  instances: Server[];
}

/** Runs a command of the backend's supervisor, such as `up`, and returns what it printed. */
async function supervise(command: string[]): Promise<string> {
  const { stdout } = await run(PYTHON, ['-m', 'stack', ...command], {
    cwd: BACKEND,
    timeout: START_LIMIT_MS,
  });
  return stdout;
}

/** Logs in as the administrator, and stores the session in the file that every test worker starts from. */
async function logIn(): Promise<void> {
  const api = await request.newContext({ baseURL: stack.url(), timeout: START_LIMIT_MS });
  const session = (await (await api.get('/api/v1/auth/session')).json()) as { csrf_token: string };
  const answer = await api.post('/api/v1/auth/session', {
    data: { username: stack.user(), password: stack.password() },
    headers: { 'X-CSRFToken': session.csrf_token, Referer: stack.url() },
  });
  if (!answer.ok())
    throw new Error(`The log-in of the set-up failed: ${answer.status()} ${await answer.text()}`);
  await api.storageState({ path: SESSION_FILE });
  await api.dispose();
}

/**
 * Starts the stack, or uses the one that FQC_E2E_URL names. Returns the function that stops it again, which leaves a
 * stack alone that was running before.
 */
export default async function setUp(): Promise<() => Promise<void>> {
  if (process.env.FQC_E2E_URL) {
    await logIn();
    return () => rm(SESSION_FILE, { force: true });
  }
  const runDir = await mkdtemp(join(tmpdir(), 'fqc-e2e-'));
  const end = async () => {
    await supervise(['down', '--run-dir', runDir]);
    await rm(runDir, { recursive: true, force: true });
    await rm(SESSION_FILE, { force: true });
  };
  try {
    await begin(runDir);
  } catch (error) {
    await end(); // Playwright ends only what was set up to the end.
    throw error;
  }
  return end;
}

async function begin(runDir: string): Promise<void> {
  const started = JSON.parse(
    await supervise(['up', '--run-dir', runDir, '--ports', 'auto', '--count', String(2 * WORKERS), '--json']),
  ) as Started;
  process.env.FQC_E2E_URL = started.address ?? started.url;
  process.env.FQC_E2E_USER = started.admin.username;
  process.env.FQC_E2E_PASSWORD = started.admin.password;
  process.env.FQC_E2E_SERVERS = JSON.stringify(started.instances);
  process.env.FQC_E2E_RUN_DIR = runDir;
  await logIn();
}
