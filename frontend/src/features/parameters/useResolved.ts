import { useDebouncedValue } from '@mantine/hooks';
import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { api, unwrap } from '@/api/client';
import type { Instance } from '@/api/instances';
import { isExpression } from './parameterInput';

const PAUSE_MS = 200;

/** Evaluates an expression for this instance as a preview would, after a pause in typing. */
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
