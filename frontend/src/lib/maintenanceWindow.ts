// The next opening of a maintenance window, shown before a change is scheduled. The control plane decides when it
// opens. Pure.

export interface MaintenanceWindow {
  /** The day of the week: 0 is Monday; null means every day. */
  weekday: number | null;
  /** The time of day at which the window opens: HH:MM in UTC. */
  start: string;
  /** How long the window stays open. */
  minutes: number;
}

const DAY_MS = 86_400_000;
const MONDAY_MS = 4 * DAY_MS; // The first Monday of Unix time.

/**
 * The start of the current opening if the window is open at `now`, otherwise of the next one; both in milliseconds
 * since 1970. So the window is open if the result is at or before `now`.
 */
export function openingOf({ weekday, start, minutes }: MaintenanceWindow, now: number): number {
  const [hours = 0, past = 0] = start.split(':').map(Number);
  const offset = (hours * 60 + past) * 60_000 + (weekday === null ? 0 : MONDAY_MS + weekday * DAY_MS);
  const every = weekday === null ? DAY_MS : 7 * DAY_MS;
  // The first opening that has not ended yet.
  return offset + (Math.floor((now - offset - minutes * 60_000) / every) + 1) * every;
}
