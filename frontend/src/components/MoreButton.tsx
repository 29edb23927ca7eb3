import { Button } from '@mantine/core';
import type { UseInfiniteQueryResult } from '@tanstack/react-query';
import { useT } from '@/lib/i18n/context';

/** The button that loads the next page of a list. Nothing if the last page is loaded. */
export function MoreButton({ query }: { query: UseInfiniteQueryResult<unknown> }) {
  const t = useT();
  if (!query.hasNextPage) return null;
  return (
    <Button
      variant="subtle"
      fullWidth
      radius={0}
      loading={query.isFetchingNextPage}
      onClick={() => void query.fetchNextPage()}
    >
      {t('action.more')}
    </Button>
  );
}
