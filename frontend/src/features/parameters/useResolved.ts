import { useDebouncedValue } from '@mantine/hooks';
import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { api, unwrap } from '@/api/client';
import type { Instance } from '@/api/instances';
import { classQuery } from '@/api/instances';
import { isExpression } from './parameterInput';

const PAUSE_MS = 200;

/** What an expression comes to on this instance's class, asked after a pause in typing. */
export function useResolved(instance: Instance, parameter: string, text: string) {
  const [expression] = useDebouncedValue(text, PAUSE_MS);
  const { data: instanceClass } = useQuery(classQuery(instance.instance_class));
  return useQuery({
    queryKey: ['evaluate', expression, parameter, instance.instance_class, instance.engine_line],
    queryFn: ({ signal }) =>
      unwrap(
        api.POST('/api/v1/expressions/evaluate', {
          body: {
            expression,
            parameter,
            variables: instanceClass?.variables,
            engine_line: instance.engine_line,
          },
          signal,
        }),
      ),
    enabled: isExpression(expression) && instanceClass !== undefined,
    placeholderData: keepPreviousData,
    staleTime: Infinity,
  });
}
