// The page of one thing. Until it is here, and when it cannot be, the page says what was asked for and leads back.
import type { UseQueryResult } from '@tanstack/react-query';
import type { ReactNode } from 'react';
import { PageHeader } from './PageHeader';
import { QueryView } from './QueryView';

interface QueryPageProps<T> {
  query: UseQueryResult<T>;
  /** The way back. */
  eyebrow: ReactNode;
  /** What the address calls it. */
  title: string;
  room?: string;
  /** Below the heading while it loads, so that nothing moves when it is here. */
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
