// When a maintenance window opens next, so that nobody has to work it out before scheduling. The control plane decides. Pure.

export interface MaintenanceWindow {
  /** 0 is Monday; null: every day. */
  weekday: number | null;
  /** HH:MM, UTC. */
  start: string;
  minutes: number;
}

const DAY_MS = 86_400_000;
const MONDAY_MS = 4 * DAY_MS; // The first Monday of Unix time.

/** The opening that is under way or comes next; at or before `now` it is open. */
export function openingOf({ weekday, start, minutes }: MaintenanceWindow, now: number): number {
  const [hours = 0, past = 0] = start.split(':').map(Number);
  const offset = (hours * 60 + past) * 60_000 + (weekday === null ? 0 : MONDAY_MS + weekday * DAY_MS);
  const every = weekday === null ? DAY_MS : 7 * DAY_MS;
  // The first that has not closed yet.
  return offset + (Math.floor((now - offset - minutes * 60_000) / every) + 1) * every;
}
