import type { Instance, InstanceParameter } from '@/api/instances';
import { isExpression } from './parameterInput';
import { useResolved } from './useResolved';

/**
 * Evaluates the typed expression on the server, and says as `isBlocked` whether the server refuses it. It is false
 * until the response for this very text has arrived.
 */
export function useVerdict(instance: Instance, row: InstanceParameter, text: string) {
  const resolved = useResolved(instance, row.name, text);
  const { data } = resolved;
  const findings = data?.findings ?? [];
  const isOfText = isExpression(text) && data?.expression === text;
  const isRefused = Boolean(data?.error) || findings.some(({ severity }) => severity === 'blocking');
  return { ...resolved, findings, isBlocked: isOfText && isRefused };
}
