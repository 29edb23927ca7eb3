// Parses `fqc_rules` for display. The server has validated it; unknown parts are shown unchanged. Pure.

export interface CacheRule {
  /** The conditions that a read must all fulfil, such as `table` with the value `shop.orders`. */
  matches: { name: string; value: string }[];
  cache: string;
  /** How long a result is served even if writes have changed it. Only for rules with `always`. */
  ttlSeconds?: number;
}

/**
 * The rules in the order in which the server applies them. None for an empty text; undefined if the text is no list of
 * rules.
 */
export function readRules(text: string): CacheRule[] | undefined {
  if (text.trim() === '') return [];
  try {
    const rules: unknown = JSON.parse(text);
    return Array.isArray(rules) ? rules.map(ruleOf) : undefined;
  } catch {
    return undefined;
  }
}

function ruleOf(rule: Record<string, unknown>): CacheRule {
  const { cache, ttl, ...matched } = rule;
  return {
    matches: Object.entries(matched).map(([name, value]) => ({ name, value: String(value) })),
    cache: String(cache),
    ttlSeconds: typeof ttl === 'number' ? ttl : undefined,
  };
}
