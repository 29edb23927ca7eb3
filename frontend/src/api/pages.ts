// Cursor pages: a list grows page by page, and remembers where it was.
import { infiniteQueryOptions } from '@tanstack/react-query';

export interface Page<T> {
  items: T[];
  next: string | null;
}

export const PAGE_SIZE = 100;
export const LARGEST_PAGE_SIZE = 200;

export function pagedQuery<T>(
  queryKey: readonly unknown[],
  fetchPage: (cursor: string | undefined) => Promise<Page<T>>,
) {
  return infiniteQueryOptions({
    queryKey,
    queryFn: ({ pageParam }) => fetchPage(pageParam),
    initialPageParam: undefined as string | undefined,
    getNextPageParam: (page) => page.next ?? undefined,
    select: ({ pages }) => pages.flatMap((page) => page.items),
  });
}
