// What is asked for again and again is asked for once at a time: what comes meanwhile waits, and is asked for together.
// Without it a page that many events concern asks faster than it is answered, and waits for all of it. Pure but for its timer.

export function gathered<T>(
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
      await ask(things).catch(() => undefined); // Told where it was asked; here it only has an end.
      await new Promise((resolve) => setTimeout(resolve, pauseMs));
    }
    isAsking = false;
  };
  return (things) => {
    for (const thing of things) waiting.add(thing);
    if (!isAsking) void run();
  };
}
