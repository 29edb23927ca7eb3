// A stream of server-sent events. The browser reconnects a broken stream by itself and continues after the last event.
// A stream that the server refuses is tried again after a growing pause. No stream is tried while the API is down: the
// connection module checks that once for all streams.
import { api } from './client';
import { connection } from './connection';

const FIRST_PAUSE_MS = 5_000;
const LONGEST_PAUSE_MS = 60_000;

export interface Listening {
  /** Handlers of event data by topic. */
  topics: Record<string, (data: unknown) => void>;
  /** Only events of these instances, with the values of their samples. Absent means all instances. */
  instances?: string[];
  /** Called with whether the stream is connected, so that events from now on are received. */
  onHeard?: (isHeard: boolean) => void;
}

function addressOf({ topics, instances = [] }: Listening): string {
  const query = new URLSearchParams(Object.keys(topics).map((topic) => ['topic', topic]));
  if (instances.length > 0) query.set('instances', instances.join(','));
  return `/api/v1/events?${query.toString()}`;
}

/**
 * Sends a request after the stream broke. On a page that does not poll, this is how an outage is noticed: the response
 * shows whether the API is up.
 */
function findOut() {
  api.GET('/api/v1/auth/session').catch(() => undefined);
}

/** Subscribes to the stream, and returns a function that ends the subscription. */
export function listen(listening: Listening): () => void {
  let source: EventSource | undefined;
  let timer: number | undefined;
  let pauseMs = FIRST_PAUSE_MS;
  let isHeard = false;
  const tellHeard = (next: boolean) => {
    isHeard = next;
    listening.onHeard?.(next);
  };
  const open = () => {
    const opened = new EventSource(addressOf(listening));
    source = opened;
    for (const [topic, tell] of Object.entries(listening.topics))
      opened.addEventListener(topic, ({ data }: MessageEvent<string>) => tell(JSON.parse(data)));
    opened.onopen = () => {
      pauseMs = FIRST_PAUSE_MS;
      tellHeard(true);
    };
    opened.onerror = () => {
      if (isHeard) findOut();
      tellHeard(false);
      if (opened.readyState !== EventSource.CLOSED) return;
      timer = window.setTimeout(open, pauseMs);
      pauseMs = Math.min(pauseMs * 2, LONGEST_PAUSE_MS);
    };
  };
  const close = () => {
    source?.close();
    window.clearTimeout(timer);
  };
  const forget = connection.subscribe(() => {
    close();
    if (connection.isLost()) tellHeard(false);
    else open();
  });
  if (!connection.isLost()) open();
  return () => {
    forget();
    close();
  };
}
