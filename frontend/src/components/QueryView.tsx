// Shows a query: a skeleton while it loads, the error with a retry, or the data. Loaded data stays on screen when a
// later poll fails; the connection banner then says why the data is old.
import { Skeleton, Stack } from '@mantine/core';
import type { UseQueryResult } from '@tanstack/react-query';
import type { ReactNode } from 'react';
import { useT } from '@/lib/i18n/context';
import { ErrorPanel } from './ErrorPanel';

interface QueryViewProps<T> {
  query: UseQueryResult<T>;
  children: (data: T) => ReactNode;
  skeleton?: ReactNode;
}

export function QueryView<T>({ query, children, skeleton }: QueryViewProps<T>) {
  if (query.data !== undefined) return <>{children(query.data)}</>;
  if (query.isError) return <ErrorPanel error={query.error} onRetry={() => void query.refetch()} />;
  return <Loading>{skeleton ?? <SkeletonLines />}</Loading>;
}

export function Loading({ children }: { children: ReactNode }) {
  const t = useT();
  return (
    <div aria-busy="true" aria-label={t('state.loading')} role="status">
      {children}
    </div>
  );
}

const WIDTHS = ['92%', '78%', '85%', '64%', '88%', '71%'];

export function SkeletonLines({ lines = 5 }: { lines?: number }) {
  return (
    <Stack gap={10} p={4}>
      {Array.from({ length: lines }, (_, index) => (
        <Skeleton key={index} height={14} width={WIDTHS[index % WIDTHS.length]} />
      ))}
    </Stack>
  );
}
