// Helpers other than the browser: the API as the administrator, and an application that sends reads.
import { execFile, spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { join } from 'node:path';
import { promisify } from 'node:util';
import type { APIRequestContext } from '@playwright/test';
import { BACKEND, PYTHON, stack, type Server } from './session';

const ENDED = ['applied', 'rolled_back', 'failed', 'aborted'];
const LOOK_EVERY_MS = 200;

export class Api {
  constructor(private readonly request: APIRequestContext) {}

  async get<T>(path: string): Promise<T> {
    const answer = await this.request.get(`/api/v1/${path}`);
    if (!answer.ok()) throw new Error(`GET ${path}: ${answer.status()} ${await answer.text()}`);
    return (await answer.json()) as T;
  }

  async send<T>(method: string, path: string, data?: unknown): Promise<T> {
    const { csrf_token } = await this.get<{ csrf_token: string }>('auth/session');
    const headers = { 'X-CSRFToken': csrf_token, 'If-Match': '*', Referer: stack.url() };
    const answer = await this.request.fetch(`/api/v1/${path}`, { method, data, headers });
    if (!answer.ok()) throw new Error(`${method} ${path}: ${answer.status()} ${await answer.text()}`);
    return (answer.status() === 204 ? undefined : await answer.json()) as T;
  }

  /** A rule that fires at once on any server, since every server is polled all the time. Returns the rule's id. */
  async alwaysFiringRule(
    instanceId: string,
    name: string,
    severity: 'warning' | 'critical',
  ): Promise<string> {
    const rule = await this.send<{ id: string }>('POST', 'alert-rules', {
      name,
      metric: 'questions_per_second',
      comparison: 'gt',
      threshold: 0,
      for_seconds: 0,
      reminder_seconds: 3600,
      minimum_traffic: 0,
      severity,
      scope: 'instance',
      instance_id: instanceId,
    });
    return rule.id;
  }

  /** Starts a change of an instance and waits until it has ended. */
  async change(instanceId: string, what: string, body: object = {}): Promise<void> {
    const made = await this.send<{ id: string }>('POST', `instances/${instanceId}/${what}`, {
      ...body,
      apply: true,
      when: 'now',
    });
    const stateOf = async () => (await this.get<{ state: string }>(`changes/${made.id}`)).state;
    let state = await stateOf();
    while (!ENDED.includes(state)) {
      await new Promise((resolve) => setTimeout(resolve, LOOK_EVERY_MS));
      state = await stateOf();
    }
    if (state !== 'applied') throw new Error(`${what} of ${instanceId} ended as ${state}`);
  }
}

/** Runs statements on a server as its owner, without the control plane's knowledge. */
export async function runOn({ folder }: Server, ...statements: string[]): Promise<void> {
  const code = `
import os, pwd, sys, pymysql
owner = pwd.getpwuid(os.geteuid()).pw_name
server = pymysql.connect(unix_socket=sys.argv[1], user=owner, autocommit=True)
for statement in sys.argv[2:]:
    server.cursor().execute(statement)`;
  await promisify(execFile)(PYTHON, ['-c', code, join(folder, 'server.sock'), ...statements]);
}

/** Runs the demonstration shop against a server while `during` runs. */
export async function whileReading(server: Server, during: () => Promise<void>): Promise<void> {
  const password = randomUUID();
  await runOn(
    server,
    `CREATE OR REPLACE USER 'shop'@'127.0.0.1' IDENTIFIED BY '${password}'`,
    `GRANT ALL PRIVILEGES ON demo.* TO 'shop'@'127.0.0.1'`,
  );
  const words = ['-m', 'stack.workload', '--user', 'shop', `${server.host}:${server.port}`];
  const shop = spawn(PYTHON, words, {
    cwd: BACKEND,
    env: { ...process.env, FQC_DEMO_PASSWORD: password },
    stdio: 'ignore',
  });
  const ended = once(shop, 'exit');
  const failed = ended.then(([code]) => {
    throw new Error(`The workload ended by itself, with ${code}.`);
  });
  try {
    await Promise.race([during(), failed]);
  } finally {
    failed.catch(() => undefined);
    shop.kill();
    await ended;
  }
}
