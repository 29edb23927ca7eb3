// One stream of server-sent events. The browser reconnects a broken stream itself, and goes on after what it had; one that
// the server refuses is tried again after a growing pause. None is tried while the API is down: whether it is back is
// asked for all at once, by the connection.
import { api } from './client';
import { connection } from './connection';

const FIRST_PAUSE_MS = 5_000;
const LONGEST_PAUSE_MS = 60_000;

export interface Listening {
  /** Topic -> what to do with the data of its events. */
  topics: Record<string, (data: unknown) => void>;
  /** Only of these, and with the values of their samples. None: of all. */
  instances?: string[];
  /** Whether what happens from now on is heard. */
  onHeard?: (isHeard: boolean) => void;
}

function addressOf({ topics, instances = [] }: Listening): string {
  const query = new URLSearchParams(Object.keys(topics).map((topic) => ['topic', topic]));
  if (instances.length > 0) query.set('instances', instances.join(','));
  return `/api/v1/events?${query.toString()}`;
}

/** On a page that asks nothing by itself a broken stream is the first that is seen of an outage: any answer tells. */
function findOut() {
  api.GET('/api/v1/auth/session').catch(() => undefined);
}

/** Answers how to end it. */
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
