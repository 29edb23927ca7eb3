// The address of the stack and the log-in that the set-up created. Test workers read them from the environment.
import { createHmac } from 'node:crypto';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';

process.env.FQC_E2E_SESSION ??= join(tmpdir(), `fqc-e2e-session-${process.pid}.json`);

// A stack that is already running is only sure to have the two servers that one worker needs.
process.env.FQC_E2E_WORKERS ??= process.env.FQC_E2E_URL ? '1' : '3';

/** How many test files run at a time, each with two instances of its own. */
export const WORKERS = Number(process.env.FQC_E2E_WORKERS);

export const BACKEND = resolve(import.meta.dirname, '../../backend');
export const PYTHON = join(BACKEND, '.venv/bin/python');

/**
 * A server of the stack, as `up --json` reports it: the instance's id, its address, the control plane's account on it,
 * and the folder of its data.
 */
export interface Server {
  id: string;
  name: string;
  host: string;
  port: number;
  username: string;
  password: string;
  folder: string;
}

/**
 * The account of a local server that may set variables. As in the control plane, its name and password are derived from
 * those of the monitoring account.
 */
export function mayChange({ username, password }: Server): { username: string; password: string } {
  const name = `${username}_change`;
  return { username: name, password: createHmac('sha256', password).update(name).digest('hex') };
}

export const SESSION_FILE = process.env.FQC_E2E_SESSION;

/** The value of an environment variable that the global set-up has set. Throws if it has not run. */
function fromEnvironment(name: string): string {
  const value = process.env[name];
  if (!value) throw new Error(`${name} is not set: the global set-up has not run.`);
  return value;
}

/** The running stack: its URL, the administrator's log-in, and its servers. */
export const stack = {
  url: () => fromEnvironment('FQC_E2E_URL'),
  user: () => fromEnvironment('FQC_E2E_USER'),
  password: () => fromEnvironment('FQC_E2E_PASSWORD'),
  servers: () => JSON.parse(fromEnvironment('FQC_E2E_SERVERS')) as Server[],
  server: (id: string) => {
    const found = stack.servers().find((server) => server.id === id);
    if (!found) throw new Error(`FQC_E2E_SERVERS does not name ${id}.`);
    return found;
  },
};
