import { useMutation, useQueryClient } from '@tanstack/react-query';

/**
 * A mutation after which the queries of some nouns are asked again. `onDone` runs first, and also when the component
 * that asked is gone: a server that has acted already may have replaced it. Callbacks given to `mutate` run after the
 * queries, and only while the component is there: they suit a form that closes itself, not the way to another page.
 */
export function useActed<Input, Output>(
  nouns: string[],
  mutationFn: (input: Input) => Promise<Output>,
  onDone?: (output: Output) => void,
) {
  const client = useQueryClient();
  return useMutation({
    mutationFn,
    onSuccess: (output) => {
      onDone?.(output);
      return Promise.all(nouns.map((noun) => client.invalidateQueries({ queryKey: [noun] })));
    },
  });
}
