// A stream of server-sent events. The browser reconnects a broken stream by itself and continues after the last event.
// A stream that the server refuses is tried again after a growing pause. No stream is tried while the API is down: the
// connection module checks that once for all streams.
import { api } from './client';
import { connection } from './connection';

const FIRST_PAUSE_MS = 5_000;
const LONGEST_PAUSE_MS = 60_000;

export interface EventSubscription {
  /** Called with the data of each event, by the topic of the event. Only these topics are requested. */
  topics: Record<string, (data: unknown) => void>;
  /**
   * The ids of the instances whose events are sent. Events of samples then include these instances' values. Absent
   * means events of all instances.
   */
  instances?: string[];
  /**
   * Called with true when the stream connects, also again, and with false when it breaks. Events in between may be
   * missed.
   */
  onConnection?: (isConnected: boolean) => void;
}

function addressOf({ topics, instances = [] }: EventSubscription): string {
  const query = new URLSearchParams(Object.keys(topics).map((topic) => ['topic', topic]));
  if (instances.length > 0) query.set('instances', instances.join(','));
  return `/api/v1/events?${query.toString()}`;
}

/**
 * Sends a request after the stream broke, so that the connection module learns whether the API is down. A page that
 * does not poll would not notice it otherwise.
 */
function findOut() {
  api.GET('/api/v1/auth/session').catch(() => undefined);
}

/**
 * Subscribes to the event stream, and keeps it connected whenever the API is up. Returns the function that ends the
 * subscription; `onConnection` is not called by it.
 */
export function listen(subscription: EventSubscription): () => void {
  let source: EventSource | undefined;
  let timer: number | undefined;
  let pauseMs = FIRST_PAUSE_MS;
  let isConnected = false;
  const setConnected = (next: boolean) => {
    isConnected = next;
    subscription.onConnection?.(next);
  };
  const open = () => {
    const opened = new EventSource(addressOf(subscription));
    source = opened;
    for (const [topic, tell] of Object.entries(subscription.topics))
      opened.addEventListener(topic, ({ data }: MessageEvent<string>) => tell(JSON.parse(data)));
    opened.onopen = () => {
      pauseMs = FIRST_PAUSE_MS;
      setConnected(true);
    };
    opened.onerror = () => {
      if (isConnected) findOut();
      setConnected(false);
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
    if (connection.isLost()) setConnected(false);
    else open();
  });
  if (!connection.isLost()) open();
  return () => {
    forget();
    close();
  };
}
