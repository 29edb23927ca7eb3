import type { Finding } from '@/api/changes';

// Findings that this product cannot fix. For any other blocking finding, the guided flow shows the fix.
const FINAL = new Set(['no_engine_there', 'engine_idle']);

/** The finding that keeps the cache from being enabled, whatever is done in this product; undefined if there is none. */
export function enableObstacle(findings: Finding[] = []): Finding | undefined {
  return findings.find(({ code, severity }) => severity === 'blocking' && FINAL.has(code));
}
