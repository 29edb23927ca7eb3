import { useDebouncedValue } from '@mantine/hooks';
import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { api, unwrap } from '@/api/client';
import type { Instance } from '@/api/instances';
import { isExpression } from './parameterInput';

const PAUSE_MS = 200;

/**
 * Evaluates the typed expression on the server for this instance, after a pause in typing. While a new text is
 * evaluated, the result of the previous one stays. No request for a text that is no expression.
 */
export function useResolved(instance: Instance, parameter: string, text: string) {
  const [expression] = useDebouncedValue(text, PAUSE_MS);
  return useQuery({
    queryKey: ['evaluate', expression, parameter, instance.id, instance.version],
    queryFn: ({ signal }) =>
      unwrap(
        api.POST('/api/v1/expressions/evaluate', {
          body: { expression, parameter, instance: instance.id, engine_line: instance.engine_line },
          signal,
        }),
      ),
    enabled: isExpression(expression),
    placeholderData: keepPreviousData,
    staleTime: Infinity,
  });
}
