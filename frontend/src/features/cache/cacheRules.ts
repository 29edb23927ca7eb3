// What `fqc_rules` says, for people. The server has checked it; what this console does not know is shown as it is. Pure.

export interface CacheRule {
  /** What reads must match, as `name value`. */
  matches: { name: string; value: string }[];
  cache: string;
  /** For so long a result is served whatever is written; only with `always`. */
  ttlSeconds?: number;
}

/** The rules in their order; undefined for what is no list of rules. */
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
