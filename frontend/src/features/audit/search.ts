import { dayParam, textParam, type RawSearch } from '@/lib/searchParams';

export interface AuditSearch {
  actor?: string;
  action?: string;
  target?: string;
  request?: string;
  /** The first and (`to`) the last day that are shown, as YYYY-MM-DD. */
  from?: string;
  to?: string;
  event?: string;
}

export function auditSearch(raw: RawSearch): AuditSearch {
  return {
    actor: textParam(raw, 'actor'),
    action: textParam(raw, 'action'),
    target: textParam(raw, 'target'),
    request: textParam(raw, 'request'),
    from: dayParam(raw, 'from'),
    to: dayParam(raw, 'to'),
    event: textParam(raw, 'event'),
  };
}
