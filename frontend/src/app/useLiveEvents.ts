// Live updates by server-sent events: an event names what changed, the queries of that noun are asked again.
// The browser reconnects a broken stream itself; one that the server refuses is tried again after a growing pause.
import { useQueryClient, type QueryClient } from '@tanstack/react-query';
import { useEffect } from 'react';

const FIRST_PAUSE_MS = 5_000;
const LONGEST_PAUSE_MS = 60_000;

interface LiveEvent {
  /** The noun, as in `instance.changed`. */
  type?: string;
  id?: string;
}

function readEvent(data: string): LiveEvent {
  try {
    return JSON.parse(data) as LiveEvent;
  } catch {
    return {};
  }
}

function refresh(client: QueryClient, event: LiveEvent) {
  const noun = event.type?.split('.')[0];
  if (noun) void client.invalidateQueries({ queryKey: [noun] });
}

function listen(client: QueryClient, onRefused: () => void): EventSource {
  const source = new EventSource('/api/v1/events');
  source.onmessage = (message: MessageEvent<string>) => refresh(client, readEvent(message.data));
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
