// Single statements and tables: what each saves, misses and costs. The cache page shows whether the cache pays.
import { Stack } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { useNavigate, useParams, useSearch } from '@tanstack/react-router';
import { cacheAdviceQuery } from '@/api/instances';
import { QueryView } from '@/components/QueryView';
import { TableAdvice } from './TableAdvice';
import { TableFigures } from './TableFigures';
import { TopQueries } from './TopQueries';

export function QueriesPage() {
  const { instanceId } = useParams({ from: '/console/instances/$instanceId' });
  const { by, span, statement } = useSearch({ from: '/console/instances/$instanceId/queries' });
  const navigate = useNavigate({ from: '/instances/$instanceId/queries' });
  const advice = useQuery(cacheAdviceQuery(instanceId));
  return (
    <QueryView query={advice}>
      {(data) => (
        <Stack gap="md">
          <TopQueries
            instanceId={instanceId}
            span={span}
            onSpan={(next) => void navigate({ search: (old) => ({ ...old, span: next }), replace: true })}
            ranking={by}
            isObserving={data.observation?.is_running ?? false}
            onRank={(next) => void navigate({ search: (old) => ({ ...old, by: next }), replace: true })}
            open={statement}
            onOpen={(digest) =>
              void navigate({ search: (old) => ({ ...old, statement: digest }), replace: true })
            }
          />
          <TableFigures instanceId={instanceId} />
          <TableAdvice advice={data} />
        </Stack>
      )}
    </QueryView>
  );
}
