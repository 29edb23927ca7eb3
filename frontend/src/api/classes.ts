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

/**
 * Requests the instance class for a machine of exactly this size. The server creates the class if there is none yet.
 */
export function classOfSize(body: CustomSize) {
  return unwrap(api.POST('/api/v1/instance-classes/custom', { body }));
}
