import { momentsOf } from './daySpan';

interface Span {
  from: string;
  to: string;
  format: string;
}

/** The URL that downloads the audit log of these days. Undefined unless both days are valid and in order. */
export function exportAddress({ from, to, format }: Span): string | undefined {
  const { since, until } = momentsOf({ from, to });
  if (!since || !until || since >= until) return undefined;
  return `/api/v1/audit-events/export?${new URLSearchParams({ since, until, format }).toString()}`;
}
