// The address of the stack and the log-in that the set-up created. Test workers read them from the environment.
import { createHmac } from 'node:crypto';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';

process.env.FQC_E2E_SESSION ??= join(tmpdir(), `fqc-e2e-session-${process.pid}.json`);

// An existing stack is only sure to have servers for one worker.
process.env.FQC_E2E_WORKERS ??= process.env.FQC_E2E_URL ? '1' : '3';

/** The number of test files that run at a time. */
export const WORKERS = Number(process.env.FQC_E2E_WORKERS);

export const BACKEND = resolve(import.meta.dirname, '../../backend');
export const PYTHON = join(BACKEND, '.venv/bin/python');

/** A server of the fleet with the control plane's account, in the format of `up --json`. */
export interface Server {
  id: string;
  name: string;
  host: string;
  port: number;
  username: string;
  password: string;
  folder: string;
}

/** The account of a local server that may set variables. The control plane derives its name from the monitoring account. */
export function mayChange({ username, password }: Server): { username: string; password: string } {
  const name = `${username}_change`;
  return { username: name, password: createHmac('sha256', password).update(name).digest('hex') };
}

export const SESSION_FILE = process.env.FQC_E2E_SESSION;

function fromEnvironment(name: string): string {
  const value = process.env[name];
  if (!value) throw new Error(`${name} is not set: the global set-up has not run.`);
  return value;
}

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
