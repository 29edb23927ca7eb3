import { keepPreviousData, queryOptions, useQuery } from '@tanstack/react-query';
import { api, unwrap } from '@/api/client';
import { PAGE_SIZE, pagedQuery, pollPages } from '@/api/pages';
import type { components } from '@/api/schema.gen';
import { useRefetchingMutation } from '@/api/useRefetchingMutation';
import { useMetricText } from '@/lib/i18n/context';

type Schemas = components['schemas'];
export type AlertRule = Schemas['AlertRule'];
export type RuleRequest = Schemas['AlertRuleWriteRequest'];
export type Incident = Schemas['Incident'];
export type IncidentDetail = Schemas['IncidentDetail'];
export type Silence = Schemas['Silence'];
export type Metric = Schemas['AlertMetric'];
export type IncidentSeries = Schemas['Series'];

const POLL_MS = 30_000;
const CHART_MS = 30 * 60_000;
const CHART_POINTS = 120;

export const rulesQuery = pagedQuery<AlertRule>(['rule'], (cursor) =>
  unwrap(api.GET('/api/v1/alert-rules', { params: { query: { cursor, limit: PAGE_SIZE } } })),
);

export function incidentsQuery(filters: { instance?: string; is_open?: boolean }) {
  return {
    ...pagedQuery<Incident>(['incident', 'list', filters], (cursor) =>
      unwrap(api.GET('/api/v1/incidents', { params: { query: { ...filters, cursor, limit: PAGE_SIZE } } })),
    ),
    refetchInterval: pollPages(POLL_MS),
  };
}

export function incidentQuery(id: string) {
  return queryOptions({
    queryKey: ['incident', 'one', id],
    queryFn: () => unwrap(api.GET('/api/v1/incidents/{id}', { params: { path: { id } } })),
  });
}

/**
 * The metric of an incident's chart, from half an hour before the incident opened until half an hour after, or until
 * now.
 */
export function incidentSeriesQuery(instance: string, incident: IncidentDetail) {
  const opened = Date.parse(incident.opened_at);
  const to = Math.min(Date.now(), opened + CHART_MS);
  return queryOptions({
    queryKey: ['incident', 'series', incident.id],
    queryFn: ({ signal }) =>
      unwrap(
        api.GET('/api/v1/instances/{id}/metrics', {
          params: {
            path: { id: instance },
            query: {
              names: incident.chart_metric,
              from: new Date(opened - CHART_MS).toISOString(),
              to: new Date(to).toISOString(),
              points: CHART_POINTS,
            },
          },
          signal,
        }),
      ),
  });
}

export const silencesQuery = pagedQuery<Silence>(['silence'], (cursor) =>
  unwrap(api.GET('/api/v1/silences', { params: { query: { cursor, limit: PAGE_SIZE } } })),
);

const alertMetricsQuery = queryOptions({
  queryKey: ['alert-metrics'],
  queryFn: () => unwrap(api.GET('/api/v1/alert-metrics')).then(({ items }) => items),
  staleTime: Infinity,
});

/** The metrics that rules can use, with texts in the viewer's language. Empty until they are loaded. */
export function useMetrics(): Metric[] {
  const metricText = useMetricText();
  const { data = [] } = useQuery(alertMetricsQuery);
  return data.map(metricText);
}

/** When a rule with these settings would have fired over the past day. Nothing is stored. */
export function rulePreviewQuery(rule: RuleRequest) {
  return queryOptions({
    queryKey: ['rule-preview', rule],
    queryFn: ({ signal }) => unwrap(api.POST('/api/v1/alert-rules/preview', { body: rule, signal })),
    placeholderData: keepPreviousData,
  });
}

export function useRuleSave(rule: AlertRule | undefined) {
  return useRefetchingMutation(['rule'], (body: RuleRequest) =>
    rule
      ? unwrap(
          api.PUT('/api/v1/alert-rules/{id}', {
            params: { path: { id: rule.id }, header: { 'If-Match': `"${rule.version}"` } },
            body,
          }),
        )
      : unwrap(api.POST('/api/v1/alert-rules', { body })),
  );
}

export function useRuleDelete() {
  return useRefetchingMutation(['rule'], (rule: AlertRule) =>
    unwrap(
      api.DELETE('/api/v1/alert-rules/{id}', {
        params: { path: { id: rule.id }, header: { 'If-Match': `"${rule.version}"` } },
      }),
    ),
  );
}

export function useIncidentAcknowledge() {
  return useRefetchingMutation(['incident'], (id: string) =>
    unwrap(api.POST('/api/v1/incidents/{id}/acknowledge', { params: { path: { id } } })),
  );
}

export function useSilenceCreate() {
  return useRefetchingMutation(['silence'], (body: Schemas['SilenceCreateRequest']) =>
    unwrap(api.POST('/api/v1/silences', { body })),
  );
}

export function useSilenceEnd() {
  return useRefetchingMutation(['silence'], (id: string) =>
    unwrap(api.DELETE('/api/v1/silences/{id}', { params: { path: { id } } })),
  );
}
