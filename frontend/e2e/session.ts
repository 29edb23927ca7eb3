// Where the tests find the stack and the log-in that the set-up made. Workers read it from the environment.
import { tmpdir } from 'node:os';
import { join } from 'node:path';

process.env.FQC_E2E_SESSION ??= join(tmpdir(), `fqc-e2e-session-${process.pid}.json`);

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
};
