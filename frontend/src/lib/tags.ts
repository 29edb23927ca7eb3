// Tags as people write them.

/**
 * Parses `env:prod, team:pay` into an object from name to value. Undefined if a part is not name:value; an empty text
 * gives no tags.
 */
export function readTags(text: string): Record<string, string> | undefined {
  const parts = text.split(',').map((part) => part.trim());
  const pairs = parts.filter(Boolean).map((part) => /^([^:]+):(.*)$/.exec(part));
  if (pairs.some((pair) => pair === null)) return undefined;
  return Object.fromEntries(
    pairs.flatMap((pair) => (pair ? [[(pair[1] ?? '').trim(), (pair[2] ?? '').trim()]] : [])),
  );
}

/** The text that `readTags` reads: `env:prod, team:pay`. */
export function writeTags(tags: Record<string, string>): string {
  return Object.entries(tags)
    .map(([name, value]) => `${name}:${value}`)
    .join(', ');
}
