// Live updates by server-sent events: an event names what changed, and the queries of that noun are asked again.
// However many come, one round of asking is under way at a time.
import { useQueryClient, type QueryClient } from '@tanstack/react-query';
import { useEffect } from 'react';
import { listen } from '@/api/eventStream';
import { gathered } from '@/api/gathered';
import { isSoonAsked } from '@/api/pages';

/** Topic of an event -> first words of the query keys it makes old. */
const NOUNS_OF_TOPIC: Record<string, string[]> = {
  change: ['change', 'instance'],
  instance: ['instance'],
  fleet_apply: ['fleet-apply'],
  incident: ['incident'],
};

function askAgain(client: QueryClient) {
  return gathered<string>((nouns) =>
    Promise.all(
      [...nouns].map((noun) => client.invalidateQueries({ queryKey: [noun], predicate: isSoonAsked })),
    ),
  );
}

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
