// The possible lifetimes of a token, up to the maximum that the session reports. Pure.

const SHORT_DAYS = [7, 30, 90];
const USUAL_DAYS = 90;

const DAY_MS = 86_400_000;
/**
 * How much earlier than chosen a token expires, so that the longest lifetime is not refused when the browser's clock is
 * ahead of the server's.
 */
const MARGIN_MS = 3_600_000;

/** The lifetimes to choose from, in days, the longest allowed one last. `most` is that limit. */
export function lifetimesUpTo(most: number): number[] {
  return [...SHORT_DAYS.filter((days) => days < most), most];
}

export function usualLifetime(most: number): number {
  return Math.min(USUAL_DAYS, most);
}

/** The expiry to request for a token, in ISO format: `days` from `now` (milliseconds), less an hour. */
export function expiryOf(days: number, now: number): string {
  return new Date(now + days * DAY_MS - MARGIN_MS).toISOString();
}
