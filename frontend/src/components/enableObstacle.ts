import type { Finding } from '@/api/changes';

// Codes of findings that nothing in this product can fix. For other blocking findings, the guided flow shows the fix.
const FINAL = new Set(['no_engine_there', 'engine_idle']);

/**
 * The finding that rules out enabling the cache, because nothing in this product can fix it. Undefined if there is
 * none; other blocking findings may remain.
 */
export function enableObstacle(findings: Finding[] = []): Finding | undefined {
  return findings.find(({ code, severity }) => severity === 'blocking' && FINAL.has(code));
}
