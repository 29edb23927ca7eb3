import type { Instance, InstanceParameter } from '@/api/instances';
import { isExpression, judge } from './parameterInput';
import { useResolved } from './useResolved';

/** Evaluates an expression on the server and judges its value. A text whose answer is still missing is not blocked. */
export function useVerdict(instance: Instance, row: InstanceParameter, text: string) {
  const resolved = useResolved(instance, row.name, text);
  const { data } = resolved;
  // The engine line does not list all that a server has; what it does not is judged by the server's own definition.
  const findings = (data?.findings ?? []).filter(({ code }) => code !== 'unknown_parameter');
  const isListed = findings.length === data?.findings.length;
  const judgement = isListed || !data?.value ? undefined : judge(data.value, row);
  const isOfText = isExpression(text) && data?.expression === text;
  const isRefused =
    Boolean(data?.error) ||
    judgement?.kind === 'wrong' ||
    findings.some(({ severity }) => severity === 'blocking');
  return { ...resolved, findings, judgement, isBlocked: isOfText && isRefused };
}
