// Live updates by server-sent events: an event names what changed, and the queries of that noun are asked again.
// The browser reconnects a broken stream itself; one that the server refuses is tried again after a growing pause.
import { useQueryClient, type QueryClient } from '@tanstack/react-query';
import { useEffect } from 'react';
import { isSoonAsked } from '@/api/pages';

const FIRST_PAUSE_MS = 5_000;
const LONGEST_PAUSE_MS = 60_000;

/** Topic of an event -> first words of the query keys it makes old. */
const NOUNS_OF_TOPIC: Record<string, string[]> = {
  change: ['change', 'instance'],
  instance: ['instance'],
  fleet_apply: ['fleet-apply'],
  incident: ['incident'],
};

function listen(client: QueryClient, onRefused: () => void): EventSource {
  const topics = Object.keys(NOUNS_OF_TOPIC);
  const source = new EventSource(`/api/v1/events?${topics.map((topic) => `topic=${topic}`).join('&')}`);
  for (const topic of topics) {
    source.addEventListener(topic, () => {
      for (const noun of NOUNS_OF_TOPIC[topic] ?? [])
        void client.invalidateQueries({ queryKey: [noun], predicate: isSoonAsked });
    });
  }
  source.onerror = () => {
    if (source.readyState === EventSource.CLOSED) onRefused();
  };
  return source;
}

export function useLiveEvents(): void {
  const client = useQueryClient();
  useEffect(() => {
    let source: EventSource | undefined;
    let timer: number | undefined;
    let pauseMs = FIRST_PAUSE_MS;
    const open = () => {
      source = listen(client, () => {
        timer = window.setTimeout(open, pauseMs);
        pauseMs = Math.min(pauseMs * 2, LONGEST_PAUSE_MS);
      });
    };
    open();
    return () => {
      source?.close();
      window.clearTimeout(timer);
    };
  }, [client]);
}
