// Makes the control plane answer with a problem.
import type { Page } from '@playwright/test';

const MESSAGE = 'The disk of the control plane is full.';
const REQUEST = '5a1b2c3d4e5f';

export const refusal = { message: MESSAGE, request: REQUEST, text: new RegExp(`${MESSAGE}.*${REQUEST}`) };

interface Terms {
  /** Only refuse requests with this HTTP method. */
  method?: string;
  /** Requests are refused only after this promise has resolved; earlier ones wait for it. */
  after?: Promise<void>;
}

/** Refuses requests to matching addresses, until they are unrouted. */
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
