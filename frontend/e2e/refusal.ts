// A control plane that answers with a problem of its own.
import type { Page } from '@playwright/test';

const MESSAGE = 'The disk of the control plane is full.';
const REQUEST = '5a1b2c3d4e5f';

export const refusal = { message: MESSAGE, request: REQUEST, text: new RegExp(`${MESSAGE}.*${REQUEST}`) };

interface Terms {
  /** Only what is sent in this way. */
  method?: string;
  /** What is sent earlier waits for it. */
  after?: Promise<void>;
}

/** Refuses what is sent to such addresses, until they are unrouted. */
export async function refuse(
  page: Page,
  isRefused: (url: URL) => boolean,
  { method, after }: Terms = {},
): Promise<void> {
  const problem = { code: 'internal', title: 'Internal error', detail: MESSAGE, request_id: REQUEST };
  const body = JSON.stringify(problem);
  await page.route(isRefused, async (route) => {
    if (method && route.request().method() !== method) return route.continue();
    await after;
    await route.fulfill({ status: 500, contentType: 'application/problem+json', body });
  });
}
