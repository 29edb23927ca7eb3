// One stream of server-sent events. The browser reconnects a broken stream itself, and goes on after what it had; one that
// the server refuses is tried again after a growing pause.

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

/** Answers how to end it. */
export function listen(listening: Listening): () => void {
  let source: EventSource;
  let timer: number | undefined;
  let pauseMs = FIRST_PAUSE_MS;
  const open = () => {
    source = new EventSource(addressOf(listening));
    for (const [topic, tell] of Object.entries(listening.topics))
      source.addEventListener(topic, ({ data }: MessageEvent<string>) => tell(JSON.parse(data)));
    source.onopen = () => {
      pauseMs = FIRST_PAUSE_MS;
      listening.onHeard?.(true);
    };
    source.onerror = () => {
      listening.onHeard?.(false);
      if (source.readyState !== EventSource.CLOSED) return;
      timer = window.setTimeout(open, pauseMs);
      pauseMs = Math.min(pauseMs * 2, LONGEST_PAUSE_MS);
    };
  };
  open();
  return () => {
    source.close();
    window.clearTimeout(timer);
  };
}
