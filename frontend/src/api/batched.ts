// Batches requests for single things that are made at about the same time into one request. Pure except for its timer.

interface Waiting<T> {
  resolve: (answer: T | null) => void;
  reject: (error: unknown) => void;
}

/**
 * Returns a function that requests one thing by its key. Keys that are requested within `pauseMs` go out together,
 * through `askMany`, at most `limit` of them in one call. Resolves to null for a key that the response does not
 * contain; if `askMany` fails, all keys of that call are rejected with its error.
 */
export function batched<T>(
  askMany: (keys: string[]) => Promise<ReadonlyMap<string, T>>,
  limit: number,
  pauseMs = 30,
): (key: string) => Promise<T | null> {
  let waiting = new Map<string, Waiting<T>[]>();

  const ask = async (batch: [string, Waiting<T>[]][]) => {
    try {
      const answers = await askMany(batch.map(([key]) => key));
      for (const [key, asking] of batch) asking.forEach(({ resolve }) => resolve(answers.get(key) ?? null));
    } catch (error) {
      for (const [, asking] of batch) asking.forEach(({ reject }) => reject(error));
    }
  };
  const flush = () => {
    const all = [...waiting];
    waiting = new Map();
    for (let start = 0; start < all.length; start += limit) void ask(all.slice(start, start + limit));
  };
  return (key) =>
    new Promise((resolve, reject) => {
      if (waiting.size === 0) setTimeout(flush, pauseMs);
      waiting.set(key, [...(waiting.get(key) ?? []), { resolve, reject }]);
    });
}
