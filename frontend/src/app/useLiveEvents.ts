// Live updates by server-sent events. An event names what changed, and the queries of that noun are refetched. However
// many events come, only one round of refetching runs at a time.
import { useQueryClient, type QueryClient } from '@tanstack/react-query';
import { useEffect } from 'react';
import { listen } from '@/api/eventStream';
import { coalesced } from '@/api/coalesced';
import { isGrowing, isQuickToRefetch } from '@/api/pages';

/** The queries that an event of each topic refetches, by the first part of their query keys. */
const NOUNS_OF_TOPIC: Record<string, string[]> = {
  change: ['change', 'instance'],
  instance: ['instance'],
  fleet_apply: ['fleet-apply'],
  incident: ['incident'],
};

/**
 * Refetches the queries of a noun. Lists that request a further page get it first: refetching would give that request
 * up, and where events come faster than a page the list would never grow.
 */
async function refetch(client: QueryClient, noun: string): Promise<void> {
  const growing = client.getQueryCache().findAll({ queryKey: [noun], predicate: isGrowing });
  await Promise.allSettled(growing.map(({ promise }) => promise));
  await client.invalidateQueries({ queryKey: [noun], predicate: isQuickToRefetch });
}

/** Returns a function that refetches the queries of the kinds of resource (nouns) that it is given. */
export function refetching(client: QueryClient): (nouns: Iterable<string>) => void {
  return coalesced((nouns) => Promise.all([...nouns].map((noun) => refetch(client, noun))));
}

/** Refetches queries when events arrive, while the component is mounted. Used once, in the frame of all pages. */
export function useLiveEvents(): void {
  const client = useQueryClient();
  useEffect(() => {
    const tell = refetching(client);
    const topics = Object.entries(NOUNS_OF_TOPIC).map(
      ([topic, nouns]) => [topic, () => tell(nouns)] as const,
    );
    return listen({ topics: Object.fromEntries(topics) });
  }, [client]);
}
