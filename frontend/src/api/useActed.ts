import { useMutation, useQueryClient } from '@tanstack/react-query';

/** A mutation after which the queries of some nouns are asked again. */
export function useActed<Input, Output>(nouns: string[], mutationFn: (input: Input) => Promise<Output>) {
  const client = useQueryClient();
  return useMutation({
    mutationFn,
    onSuccess: () => Promise.all(nouns.map((noun) => client.invalidateQueries({ queryKey: [noun] }))),
  });
}
