/** The first and last day of a span, as date inputs write them, in the viewer's time zone. Both are included. */
export interface DaySpan {
  from?: string;
  to?: string;
}

/** The timestamps of the span for the API. A missing or invalid day sets no limit. */
export function momentsOf({ from, to }: DaySpan): { since?: string; until?: string } {
  return { since: startOf(from), until: startOf(to, 1) };
}

function startOf(day: string | undefined, later = 0): string | undefined {
  const at = new Date(`${day ?? ''}T00:00:00`);
  if (Number.isNaN(at.getTime())) return undefined;
  at.setDate(at.getDate() + later);
  return at.toISOString();
}
