// The changes that took effect within a span: marks on every chart, and links below the charts.
import { useInfiniteQuery } from '@tanstack/react-query';
import { useEffect } from 'react';
import { instanceChangesQuery, type ChangeSummary } from '@/api/changes';

export interface ChangeMark {
  id: string;
  kind: ChangeSummary['kind'];
  at: number;
}

/**
 * The changes that took effect within the span (in milliseconds), newest first. Loads further pages of the instance's
 * changes until they are older than the span, so the list may still grow.
 */
export function useChangeMarks(instanceId: string, [from, to]: [number, number]): ChangeMark[] {
  const {
    data = [],
    hasNextPage,
    isFetching,
    fetchNextPage,
  } = useInfiniteQuery(instanceChangesQuery(instanceId));
  const oldest = data.at(-1);
  const isShort = hasNextPage && oldest !== undefined && Date.parse(oldest.created_at) > from;
  useEffect(() => {
    if (isShort && !isFetching) void fetchNextPage();
  }, [isShort, isFetching, fetchNextPage]);
  return data.flatMap(markOf).filter(({ at }) => at >= from && at <= to);
}

function markOf({ id, kind, state, finished_at }: ChangeSummary): ChangeMark[] {
  return state === 'applied' && finished_at ? [{ id, kind, at: Date.parse(finished_at) }] : [];
}
