/** Days as a date field writes them, in the viewer's time zone; both are part of the span. */
export interface DaySpan {
  from?: string;
  to?: string;
}

/** The moments that the API takes; a day that is missing, or none, limits nothing. */
export function momentsOf({ from, to }: DaySpan): { since?: string; until?: string } {
  return { since: startOf(from), until: startOf(to, 1) };
}

function startOf(day: string | undefined, later = 0): string | undefined {
  const at = new Date(`${day ?? ''}T00:00:00`);
  if (Number.isNaN(at.getTime())) return undefined;
  at.setDate(at.getDate() + later);
  return at.toISOString();
}
