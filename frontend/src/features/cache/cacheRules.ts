// Parses `fqc_rules` for display. The server has validated it; unknown parts are shown unchanged. Pure.

export interface CacheRule {
  /** The conditions of the rule, as `name value`. */
  matches: { name: string; value: string }[];
  cache: string;
  /** A result is served for this time despite writes; only with `always`. */
  ttlSeconds?: number;
}

/** The rules in their order; undefined if the text is not a list of rules. */
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
