// Makes the control plane answer with a problem.
import type { Page } from '@playwright/test';

const MESSAGE = 'The disk of the control plane is full.';
const REQUEST = '5a1b2c3d4e5f';

/** The problem that `refuse` answers with: its message, its request id, and a pattern of both as a page shows them. */
export const refusal = { message: MESSAGE, request: REQUEST, text: new RegExp(`${MESSAGE}.*${REQUEST}`) };

interface Terms {
  /** Refuse only requests with this HTTP method. Absent means all. */
  method?: string;
  /** Requests are held until this promise has resolved, and refused then. Absent means at once. */
  after?: Promise<void>;
}

/**
 * Makes the browser receive status 500 with the problem `refusal` for requests to matching addresses. Lasts until
 * `page.unroute(isRefused)` or the end of the test.
 */
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
