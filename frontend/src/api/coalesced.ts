// Batches requests that are repeated often. Only one request runs at a time; things that arrive in the meantime are
// collected and requested together. Otherwise a page that receives many events would send requests faster than they are
// answered. Pure except for its timer.

/**
 * Returns a function that requests things through `ask`: at once if no request runs, otherwise together with all other
 * things when the running one has ended and `pauseMs` have passed. Each thing is named once in a request. Errors of
 * `ask` are ignored here.
 */
export function coalesced<T>(
  ask: (things: ReadonlySet<T>) => Promise<unknown>,
  pauseMs = 500,
): (things: Iterable<T>) => void {
  let waiting = new Set<T>();
  let isAsking = false;
  const run = async () => {
    isAsking = true;
    while (waiting.size > 0) {
      const things = waiting;
      waiting = new Set();
      await ask(things).catch(() => undefined); // The caller reports the error; here only the end matters.
      await new Promise((resolve) => setTimeout(resolve, pauseMs));
    }
    isAsking = false;
  };
  return (things) => {
    for (const thing of things) waiting.add(thing);
    if (!isAsking) void run();
  };
}
