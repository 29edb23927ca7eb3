import { momentsOf } from './daySpan';

interface Span {
  from: string;
  to: string;
  format: string;
}

/** Where the audit of these days is downloaded; none while they are no span. */
export function exportAddress({ from, to, format }: Span): string | undefined {
  const { since, until } = momentsOf({ from, to });
  if (!since || !until || since >= until) return undefined;
  return `/api/v1/audit-events/export?${new URLSearchParams({ since, until, format }).toString()}`;
}
