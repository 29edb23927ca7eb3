// The possible lifetimes of a token, up to the maximum that the session reports. Pure.

const SHORT_DAYS = [7, 30, 90];
const USUAL_DAYS = 90;

const DAY_MS = 86_400_000;
/** Clocks differ: the longest lifetime must not be refused because the browser's clock is ahead of the server's. */
const MARGIN_MS = 3_600_000;

export function lifetimesUpTo(most: number): number[] {
  return [...SHORT_DAYS.filter((days) => days < most), most];
}

export function usualLifetime(most: number): number {
  return Math.min(USUAL_DAYS, most);
}

export function expiryOf(days: number, now: number): string {
  return new Date(now + days * DAY_MS - MARGIN_MS).toISOString();
}
