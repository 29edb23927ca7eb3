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

/** The control plane's API with the administrator's session, next to the browser. A refused request throws. */
export class Api {
  constructor(private readonly request: APIRequestContext) {}

  /** Returns the body of a GET request. `path` is relative to /api/v1/. */
  async get<T>(path: string): Promise<T> {
    const answer = await this.request.get(`/api/v1/${path}`);
    if (!answer.ok()) throw new Error(`GET ${path}: ${answer.status()} ${await answer.text()}`);
    return (await answer.json()) as T;
  }

  /** Sends a write of any version of the object, and returns the body of the response; undefined if it has none. */
  async send<T>(method: string, path: string, data?: unknown): Promise<T> {
    const { csrf_token } = await this.get<{ csrf_token: string }>('auth/session');
    const headers = { 'X-CSRFToken': csrf_token, 'If-Match': '*', Referer: stack.url() };
    const answer = await this.request.fetch(`/api/v1/${path}`, { method, data, headers });
    if (!answer.ok()) throw new Error(`${method} ${path}: ${answer.status()} ${await answer.text()}`);
    return (answer.status() === 204 ? undefined : await answer.json()) as T;
  }

  /**
   * Creates an alert rule for the instance that fires at the next poll, since polling itself sends statements. Returns
   * the rule's id.
   */
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

  /**
   * Starts a change set by a POST to `what`, a path below the instance such as `cache/disable`, and waits until it has
   * ended. Throws unless it was applied.
   */
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

/**
 * Runs SQL statements on a local server through its socket, as the user of the operating system that owns it, so that
 * the control plane does not notice.
 */
export async function runOn({ folder }: Server, ...statements: string[]): Promise<void> {
  const code = `
import os, pwd, sys, pymysql
owner = pwd.getpwuid(os.geteuid()).pw_name
server = pymysql.connect(unix_socket=sys.argv[1], user=owner, autocommit=True)
for statement in sys.argv[2:]:
    server.cursor().execute(statement)`;
  await promisify(execFile)(PYTHON, ['-c', code, join(folder, 'server.sock'), ...statements]);
}

/**
 * Runs the workload of the demonstration shop against the server while `during` runs, and stops it afterwards. Throws
 * if the workload ends by itself.
 */
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
