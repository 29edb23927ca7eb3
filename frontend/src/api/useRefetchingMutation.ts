import { useMutation, useQueryClient } from '@tanstack/react-query';

/**
 * A mutation that, on success, refetches every query whose key begins with one of `nouns`, such as 'instance'. `onDone`
 * runs before that, even if the component is unmounted by then, because the server may have acted already. Callbacks of
 * `mutate` run after the refetch and only while the component is mounted: they suit a form that closes itself, but not
 * a navigation to another page.
 */
export function useRefetchingMutation<Input, Output>(
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
