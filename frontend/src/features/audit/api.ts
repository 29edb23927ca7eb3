import { queryOptions } from '@tanstack/react-query';
import { api, unwrap } from '@/api/client';
import { PAGE_SIZE, pagedQuery } from '@/api/pages';
import type { components } from '@/api/schema.gen';
import { momentsOf } from './daySpan';
import type { AuditSearch } from './search';

export type AuditEvent = components['schemas']['AuditEvent'];

export function auditQuery({ actor, action, target, request, from, to }: AuditSearch) {
  const filters = { actor, action, target_id: target, request_id: request, ...momentsOf({ from, to }) };
  return pagedQuery<AuditEvent>(['audit', filters], (cursor) =>
    unwrap(api.GET('/api/v1/audit-events', { params: { query: { ...filters, cursor, limit: PAGE_SIZE } } })),
  );
}

export function auditEventQuery(id: string) {
  return queryOptions({
    queryKey: ['audit', 'event', id],
    queryFn: () => unwrap(api.GET('/api/v1/audit-events/{id}', { params: { path: { id } } })),
    staleTime: Infinity,
  });
}
