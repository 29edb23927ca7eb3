// How long a token may live. The server refuses more than its own limit, 90 days unless it is set otherwise. Pure.

export const LIFETIMES_DAYS = [7, 30, 90] as const;

const DAY_MS = 86_400_000;
/** Clocks differ: the longest lifetime must not be refused because this one is ahead of the server's. */
const MARGIN_MS = 3_600_000;

export function expiryOf(days: number, now: number): string {
  return new Date(now + days * DAY_MS - MARGIN_MS).toISOString();
}
