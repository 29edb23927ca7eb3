interface Span {
  /** Days as a date field writes them; both are part of the span. */
  from: string;
  to: string;
  format: string;
}

/** Where the audit of these days, in the viewer's time zone, is downloaded; none while they are no span. */
export function exportAddress({ from, to, format }: Span): string | undefined {
  const since = new Date(`${from}T00:00:00`);
  const until = new Date(`${to}T00:00:00`);
  until.setDate(until.getDate() + 1);
  if (!(since < until)) return undefined;
  const query = new URLSearchParams({ since: since.toISOString(), until: until.toISOString(), format });
  return `/api/v1/audit-events/export?${query.toString()}`;
}
