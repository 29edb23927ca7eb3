// Whether the API answers. While it does not, polling pauses, and a probe request is repeated after growing pauses, so
// that an API that is down never gets a storm of requests.

type Listener = () => void;

const FIRST_PAUSE_MS = 2_000;
const LONGEST_PAUSE_MS = 30_000;

const listeners = new Set<Listener>();
let isLost = false;
let probeTimer: number | undefined;
let probe: (() => Promise<boolean>) | undefined;

function publish(next: boolean) {
  if (next === isLost) return;
  isLost = next;
  for (const listener of listeners) listener();
}

function scheduleProbe(pauseMs: number) {
  window.clearTimeout(probeTimer);
  probeTimer = window.setTimeout(() => {
    void probeNow(pauseMs);
  }, pauseMs);
}

async function probeNow(pauseMs: number) {
  if (!probe || !isLost) return;
  if (await probe()) publish(false);
  else scheduleProbe(Math.min(pauseMs * 2, LONGEST_PAUSE_MS));
}

export const connection = {
  isLost: () => isLost,
  /** Calls `listener` whenever the API is lost or reached again. Returns the function that ends this. */
  subscribe(listener: Listener) {
    listeners.add(listener);
    return () => {
      listeners.delete(listener);
    };
  },
  /** Sets the request that finds out whether the API answers again: true if it does. */
  setProbe(next: () => Promise<boolean>) {
    probe = next;
  },
  /** Call this when a request did not reach the API. It starts the probes; a repeated call changes nothing. */
  reportLost() {
    if (isLost) return;
    publish(true);
    scheduleProbe(FIRST_PAUSE_MS);
  },
  /** Call this after every response of the API, with whatever status. It ends the probes. */
  reportReached() {
    publish(false);
    window.clearTimeout(probeTimer);
  },
  /**
   * Probes at once instead of after the pause. Resolves when the probe has ended, whether it reached the API or not.
   */
  retryNow() {
    window.clearTimeout(probeTimer);
    return probeNow(FIRST_PAUSE_MS);
  },
};
