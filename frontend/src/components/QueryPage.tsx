// The page of one object. While it loads, and if it cannot be loaded, the page names the requested object and offers
// the way back.
import type { UseQueryResult } from '@tanstack/react-query';
import type { ReactNode } from 'react';
import { PageHeader } from './PageHeader';
import { QueryView } from './QueryView';

interface QueryPageProps<T> {
  query: UseQueryResult<T>;
  /** A small line above the heading: the link back to the list. */
  eyebrow: ReactNode;
  /** The heading until the object is loaded: its name or id, as far as the address has it. */
  title: string;
  room?: string;
  /** The tabs, shown below the heading during loading, so that nothing moves afterwards. */
  rooms?: ReactNode;
  children: (data: T) => ReactNode;
}

export function QueryPage<T>({ query, eyebrow, title, room, rooms, children }: QueryPageProps<T>) {
  if (query.data !== undefined) return <>{children(query.data)}</>;
  return (
    <>
      <PageHeader eyebrow={eyebrow} title={title} room={room} />
      {!query.isError && rooms}
      <QueryView query={query}>{children}</QueryView>
    </>
  );
}
