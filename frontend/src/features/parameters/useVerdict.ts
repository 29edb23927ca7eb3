import type { Instance, InstanceParameter } from '@/api/instances';
import { isExpression } from './parameterInput';
import { useResolved } from './useResolved';

/**
 * Evaluates an expression on the server, which checks its value. While the response is pending, the text is not
 * blocked.
 */
export function useVerdict(instance: Instance, row: InstanceParameter, text: string) {
  const resolved = useResolved(instance, row.name, text);
  const { data } = resolved;
  const findings = data?.findings ?? [];
  const isOfText = isExpression(text) && data?.expression === text;
  const isRefused = Boolean(data?.error) || findings.some(({ severity }) => severity === 'blocking');
  return { ...resolved, findings, isBlocked: isOfText && isRefused };
}
