// A page that could not start: its code did not load, the API was down, or it has a defect.
import { Container } from '@mantine/core';
import { useQueryClient } from '@tanstack/react-query';
import { useRouter, type ErrorComponentProps } from '@tanstack/react-router';
import { useEffect } from 'react';
import { connection } from '@/api/connection';
import { ErrorPanel } from '@/components/ErrorPanel';

export function RouteFailure({ error, reset }: ErrorComponentProps) {
  const router = useRouter();
  const client = useQueryClient();
  const retry = () => {
    client.removeQueries({ predicate: (query) => query.state.status === 'error' });
    reset();
    void router.invalidate();
  };
  useEffect(() =>
    connection.subscribe(() => {
      if (!connection.isLost()) retry();
    }),
  );
  return (
    <Container py="xl">
      <ErrorPanel error={error} onRetry={retry} />
    </Container>
  );
}
