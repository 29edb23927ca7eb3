/**
 * The first and the last day of a span, both included, as YYYY-MM-DD in the viewer's time zone. Absent means no limit.
 */
export interface DaySpan {
  from?: string;
  to?: string;
}

/**
 * The span for the API, in ISO format: the start of the first day, and the start of the day after the last one. A
 * missing or invalid day gives undefined, which sets no limit.
 */
export function momentsOf({ from, to }: DaySpan): { since?: string; until?: string } {
  return { since: startOf(from), until: startOf(to, 1) };
}

function startOf(day: string | undefined, later = 0): string | undefined {
  const at = new Date(`${day ?? ''}T00:00:00`);
  if (Number.isNaN(at.getTime())) return undefined;
  at.setDate(at.getDate() + later);
  return at.toISOString();
}
