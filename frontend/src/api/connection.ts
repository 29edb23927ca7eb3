// Whether the API answers. While it does not, polling pauses, and one probe asks again after growing pauses, so that an
// API that is down never gets a storm of requests.

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
  subscribe(listener: Listener) {
    listeners.add(listener);
    return () => {
      listeners.delete(listener);
    };
  },
  setProbe(next: () => Promise<boolean>) {
    probe = next;
  },
  reportLost() {
    if (isLost) return;
    publish(true);
    scheduleProbe(FIRST_PAUSE_MS);
  },
  reportReached() {
    publish(false);
    window.clearTimeout(probeTimer);
  },
  retryNow() {
    window.clearTimeout(probeTimer);
    return probeNow(FIRST_PAUSE_MS);
  },
};
