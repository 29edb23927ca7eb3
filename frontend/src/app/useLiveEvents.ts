// Live updates by server-sent events. An event names what changed, and the queries of that noun are refetched. However
// many events come, only one round of refetching runs at a time.
import { useQueryClient, type QueryClient } from '@tanstack/react-query';
import { useEffect } from 'react';
import { listen } from '@/api/eventStream';
import { coalesced } from '@/api/coalesced';
import { isQuickToRefetch } from '@/api/pages';

/** The queries that an event of each topic refetches, by the first part of their query keys. */
const NOUNS_OF_TOPIC: Record<string, string[]> = {
  change: ['change', 'instance'],
  instance: ['instance'],
  fleet_apply: ['fleet-apply'],
  incident: ['incident'],
};

function askAgain(client: QueryClient) {
  return coalesced<string>((nouns) =>
    Promise.all(
      [...nouns].map((noun) => client.invalidateQueries({ queryKey: [noun], predicate: isQuickToRefetch })),
    ),
  );
}

/** Refetches queries when events arrive, while the component is mounted. Used once, in the frame of all pages. */
export function useLiveEvents(): void {
  const client = useQueryClient();
  useEffect(() => {
    const tell = askAgain(client);
    const topics = Object.entries(NOUNS_OF_TOPIC).map(
      ([topic, nouns]) => [topic, () => tell(nouns)] as const,
    );
    return listen({ topics: Object.fromEntries(topics) });
  }, [client]);
}
