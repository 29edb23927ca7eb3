// Live updates by server-sent events: an event names what changed, and the queries of that noun are asked again.
// However many come, one round of asking is under way at a time. The browser reconnects a broken stream itself; one that
// the server refuses is tried again after a growing pause.
import { useQueryClient, type QueryClient } from '@tanstack/react-query';
import { useEffect } from 'react';
import { gathered } from '@/api/gathered';
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

function askAgain(client: QueryClient) {
  return gathered<string>((nouns) =>
    Promise.all(
      [...nouns].map((noun) => client.invalidateQueries({ queryKey: [noun], predicate: isSoonAsked })),
    ),
  );
}

function listen(tell: (nouns: string[]) => void, onRefused: () => void): EventSource {
  const topics = Object.keys(NOUNS_OF_TOPIC);
  const source = new EventSource(`/api/v1/events?${topics.map((topic) => `topic=${topic}`).join('&')}`);
  for (const topic of topics) {
    source.addEventListener(topic, () => tell(NOUNS_OF_TOPIC[topic] ?? []));
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
    const tell = askAgain(client);
    const open = () => {
      source = listen(tell, () => {
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
