import type { Finding } from '@/api/changes';

// With any other finding that blocks, the guided flow shows what to do about it.
const FINAL = new Set(['no_engine_there', 'engine_idle']);

/** Why the cache cannot be enabled on an instance, whatever is done in this product. */
export function enableObstacle(findings: Finding[] = []): Finding | undefined {
  return findings.find(({ code, severity }) => severity === 'blocking' && FINAL.has(code));
}
