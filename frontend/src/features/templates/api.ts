import { keepPreviousData, queryOptions } from '@tanstack/react-query';
import { api, unwrap } from '@/api/client';
import { PAGE_SIZE, pagedQuery } from '@/api/pages';
import type { components } from '@/api/schema.gen';
import { useRefetchingMutation } from '@/api/useRefetchingMutation';

type Schemas = components['schemas'];
export type Template = Schemas['Template'];
export type TemplateDetail = Schemas['TemplateDetail'];
export type TemplateVersion = Schemas['TemplateVersion'];
export type TemplateDifference = Schemas['TemplateDifference'];
export type TemplateUse = Schemas['TemplateUse'];
export type Values = Record<string, string>;

export const templatesQuery = pagedQuery<Template>(['template', 'list'], (cursor) =>
  unwrap(api.GET('/api/v1/templates', { params: { query: { cursor, limit: PAGE_SIZE } } })),
);

export function templateQuery(id: string) {
  return queryOptions({
    queryKey: ['template', 'one', id],
    queryFn: () => unwrap(api.GET('/api/v1/templates/{id}', { params: { path: { id } } })),
  });
}

export function versionsQuery(id: string) {
  return pagedQuery<TemplateVersion>(['template', 'versions', id], (cursor) =>
    unwrap(
      api.GET('/api/v1/templates/{id}/versions', {
        params: { path: { id }, query: { cursor, limit: PAGE_SIZE } },
      }),
    ),
  );
}

export function usesQuery(id: string) {
  return pagedQuery<TemplateUse>(['template', 'uses', id], (cursor) =>
    unwrap(
      api.GET('/api/v1/templates/{id}/instances', {
        params: { path: { id }, query: { cursor, limit: PAGE_SIZE } },
      }),
    ),
  );
}

export interface Comparison {
  version?: number;
  other?: string;
  other_version?: number;
}

export function diffQuery(id: string, comparison: Comparison) {
  return queryOptions({
    queryKey: ['template', 'diff', id, comparison],
    queryFn: () =>
      unwrap(api.GET('/api/v1/templates/{id}/diff', { params: { path: { id }, query: comparison } })).then(
        ({ items }) => items,
      ),
  });
}

/** The values that a version of a template (the newest if absent) yields on a machine with these numbers. */
export function resolvedQuery(id: string, variables: Schemas['ClassVariablesRequest'], version?: number) {
  return queryOptions({
    queryKey: ['template', 'resolved', id, variables, version],
    queryFn: () =>
      unwrap(
        api.POST('/api/v1/templates/{id}/resolve', {
          params: { path: { id } },
          body: { variables, version, clamp: false },
        }),
      ),
    placeholderData: keepPreviousData,
  });
}

export function parameterNamesQuery(engineLine: string) {
  return queryOptions({
    queryKey: ['catalogue', engineLine],
    queryFn: () =>
      unwrap(api.GET('/api/v1/parameters', { params: { query: { engine_line: engineLine } } })).then(
        ({ items }) => items,
      ),
    staleTime: Infinity,
  });
}

/** The release series of servers, such as 5.7, whose parameters are in the catalogue. */
export const linesQuery = queryOptions({
  queryKey: ['catalogue', 'lines'],
  queryFn: () => unwrap(api.GET('/api/v1/engine-lines')).then(({ items }) => items),
});

/** The release series of most instances, which a new template is for unless another one is chosen. */
export const usualLineQuery = queryOptions({
  queryKey: ['instance', 'summary', 'line'],
  queryFn: () => unwrap(api.GET('/api/v1/fleet/summary')).then(({ engine_line: line }) => line),
});

export function useTemplateCreate() {
  return useRefetchingMutation(['template'], (body: Schemas['TemplateCreateRequest']) =>
    unwrap(api.POST('/api/v1/templates', { body })),
  );
}

export function useTemplateClone(id: string) {
  return useRefetchingMutation(['template'], (body: Schemas['TemplateCloneRequest']) =>
    unwrap(api.POST('/api/v1/templates/{id}/clone', { params: { path: { id } }, body })),
  );
}

export function useTemplateImport() {
  return useRefetchingMutation(['template'], (body: Schemas['TemplateDocumentRequest']) =>
    unwrap(api.POST('/api/v1/templates/import', { body })),
  );
}

interface Edit {
  name: string;
  description: string;
  values: Values;
  note: string;
}

export function useTemplateEdit(template: TemplateDetail) {
  const params = { path: { id: template.id }, header: { 'If-Match': `"${template.version}"` } };
  return useRefetchingMutation(['template'], (edit: Edit) =>
    unwrap(api.PATCH('/api/v1/templates/{id}', { params, body: { ...edit, mode: 'overwrite' } })),
  );
}

export function useTemplateDelete(template: TemplateDetail, onDone: () => void) {
  const params = { path: { id: template.id }, header: { 'If-Match': `"${template.version}"` } };
  return useRefetchingMutation(
    ['template'],
    () => unwrap(api.DELETE('/api/v1/templates/{id}', { params })),
    onDone,
  );
}

export function readDocument(id: string) {
  return unwrap(api.GET('/api/v1/templates/{id}/export', { params: { path: { id } } }));
}
