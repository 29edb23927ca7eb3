// The next opening of a maintenance window, shown before a change is scheduled. The control plane decides when it
// opens. Pure.

export interface MaintenanceWindow {
  /** 0 is Monday; null means every day. */
  weekday: number | null;
  /** HH:MM, UTC. */
  start: string;
  minutes: number;
}

const DAY_MS = 86_400_000;
const MONDAY_MS = 4 * DAY_MS; // The first Monday of Unix time.

/**
 * The start of the current or next opening, in milliseconds since 1970. The window is open if this is at or before
 * `now`.
 */
export function openingOf({ weekday, start, minutes }: MaintenanceWindow, now: number): number {
  const [hours = 0, past = 0] = start.split(':').map(Number);
  const offset = (hours * 60 + past) * 60_000 + (weekday === null ? 0 : MONDAY_MS + weekday * DAY_MS);
  const every = weekday === null ? DAY_MS : 7 * DAY_MS;
  // The first opening that has not ended yet.
  return offset + (Math.floor((now - offset - minutes * 60_000) / every) + 1) * every;
}
