// Instance classes, and classes for custom machine sizes.
import { queryOptions } from '@tanstack/react-query';
import { api, unwrap } from './client';
import { LARGEST_PAGE_SIZE } from './pages';
import type { components } from './schema.gen';

export type CustomSize = components['schemas']['CustomSizeRequest'];

export const classesQuery = queryOptions({
  queryKey: ['class'],
  queryFn: () =>
    unwrap(api.GET('/api/v1/instance-classes', { params: { query: { limit: LARGEST_PAGE_SIZE } } })).then(
      ({ items }) => items,
    ),
  staleTime: 60_000,
});

/** The class of a machine of this size: an existing class, or a new one. */
export function classOfSize(body: CustomSize) {
  return unwrap(api.POST('/api/v1/instance-classes/custom', { body }));
}
