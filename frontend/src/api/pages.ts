// Cursor pages: a list grows page by page, and remembers where it was.
import { infiniteQueryOptions, type Query } from '@tanstack/react-query';
import { connection } from './connection';

/** One page of a list. `next` is the cursor of the next page, null on the last one. */
export interface Page<T> {
  items: T[];
  next: string | null;
}

export const PAGE_SIZE = 100;
export const LARGEST_PAGE_SIZE = 200;

/**
 * The items of all loaded pages in one list. It is one function for all queries, since react-query would run a new
 * selector function again at every render.
 */
function itemsOf<T>({ pages }: { pages: Page<T>[] }): T[] {
  return pages.flatMap((page) => page.items);
}

/** The part of a query that this module reads. A query whose data is not a list counts as one page. */
interface ListQuery {
  state: { data?: unknown };
}

function pageCount({ state }: ListQuery): number {
  return (state.data as { pages?: unknown[] } | undefined)?.pages?.length ?? 1;
}

const SHORT_LIST_PAGES = 3;

/**
 * True if the query has so few loaded pages (at most 3) that an event may refetch it at once, since refetching a list
 * requests every loaded page. Longer lists wait for their own polling interval.
 */
export function isQuickToRefetch(query: ListQuery): boolean {
  return pageCount(query) <= SHORT_LIST_PAGES;
}

/** True while a list requests a further page. */
export function isGrowing({ state }: Query): boolean {
  return state.fetchStatus !== 'idle' && state.fetchMeta?.fetchMore !== undefined;
}

/**
 * A `refetchInterval` for a list: `intervalMs` times the number of its loaded pages, and no polling while the API is
 * down.
 */
export function pollPages(intervalMs: number) {
  return (query: ListQuery) => (connection.isLost() ? false : intervalMs * pageCount(query));
}

/**
 * An infinite query of a list, whose data is the items of all pages loaded so far. `fetchPage` gets no cursor for the
 * first page.
 */
export function pagedQuery<T>(
  queryKey: readonly unknown[],
  fetchPage: (cursor: string | undefined) => Promise<Page<T>>,
) {
  return infiniteQueryOptions({
    queryKey,
    queryFn: ({ pageParam }) => fetchPage(pageParam),
    initialPageParam: undefined as string | undefined,
    getNextPageParam: (page) => page.next ?? undefined,
    select: itemsOf<T>,
  });
}
