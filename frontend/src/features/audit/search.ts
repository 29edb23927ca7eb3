import { textParam, type RawSearch } from '@/lib/searchParams';

export interface AuditSearch {
  actor?: string;
  action?: string;
  target?: string;
  request?: string;
  event?: string;
}

export function auditSearch(raw: RawSearch): AuditSearch {
  return {
    actor: textParam(raw, 'actor'),
    action: textParam(raw, 'action'),
    target: textParam(raw, 'target'),
    request: textParam(raw, 'request'),
    event: textParam(raw, 'event'),
  };
}
