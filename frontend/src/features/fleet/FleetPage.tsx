import { Button } from '@mantine/core';
import { useInfiniteQuery, useQuery } from '@tanstack/react-query';
import { useNavigate, useSearch } from '@tanstack/react-router';
import { lazy, Suspense, useMemo, useState } from 'react';
import { useCan } from '@/api/session';
import { DataTable } from '@/components/DataTable';
import { EmptyState } from '@/components/EmptyState';
import { IconPlus, IconSearch, IconServer2 } from '@/components/icons';
import { PageHeader } from '@/components/PageHeader';
import { Panel } from '@/components/Panel';
import { QueryView, SkeletonLines } from '@/components/QueryView';
import { useT } from '@/lib/i18n/context';
import { withWords } from '@/lib/i18n/english';
import { instancesQuery, openIncidentsQuery, summaryQuery, type Instance } from './api';
import { fleetColumns, type IncidentCounts } from './columns';
import { FleetFilters } from './FleetFilters';
import { FleetTiles } from './FleetTiles';
import { SelectionBar } from './SelectionBar';
import type { FleetSearch } from './search';
import classes from './fleet.module.css';

const AddInstance = lazy(() =>
  withWords(import('./AddInstance')).then((module) => ({ default: module.AddInstance })),
);

export function FleetPage() {
  const t = useT();
  const { add: isAdding, ...search } = useSearch({ from: '/console/fleet' });
  const navigate = useNavigate({ from: '/fleet' });
  const canChange = useCan('operator');
  const hasNone = useQuery(summaryQuery).data?.instance_count === 0;
  const change = (next: Partial<FleetSearch>) =>
    void navigate({ search: (old) => ({ ...old, ...next }), replace: true });
  const setIsAdding = (next: boolean) => change({ add: next || undefined });
  return (
    <>
      <PageHeader
        title={t('fleet.title')}
        actions={
          canChange && (
            <Button leftSection={<IconPlus size={14} />} onClick={() => setIsAdding(true)}>
              {t('fleet.add')}
            </Button>
          )
        }
      />
      <FleetTiles />
      {!hasNone && (
        <FleetFilters search={search} onChange={change} onClear={() => void navigate({ search: {} })} />
      )}
      <InstanceTable search={search} isFiltered={!hasNone && Object.values(search).some(Boolean)} />
      {isAdding && (
        <Suspense>
          <AddInstance onClose={() => setIsAdding(false)} />
        </Suspense>
      )}
    </>
  );
}

const nameOf = ({ name }: Instance) => name;

const NO_INCIDENTS: IncidentCounts = {};

/** The number of open incidents by instance id, in one query for the whole table instead of one for each row. */
const incidentCountsQuery = {
  ...openIncidentsQuery,
  select: ({ items }: { items: { instance_id: string | null }[] }) => {
    const counts: IncidentCounts = {};
    for (const { instance_id: id } of items) if (id) counts[id] = (counts[id] ?? 0) + 1;
    return counts;
  },
};

function InstanceTable({ search, isFiltered }: { search: FleetSearch; isFiltered: boolean }) {
  const t = useT();
  const canChange = useCan('operator');
  const instances = useInfiniteQuery(instancesQuery(search));
  const [selected, setSelected] = useState<ReadonlySet<string>>(new Set());
  const { data: incidents = NO_INCIDENTS } = useQuery(incidentCountsQuery);
  const columns = useMemo(
    () => fleetColumns(t, !instances.hasNextPage, incidents),
    [t, instances.hasNextPage, incidents],
  );
  const selection = useMemo(
    () => ({
      selected,
      onChange: setSelected,
      labelOf: ({ name }: Instance) => t('fleet.select', { name }),
    }),
    [selected, t],
  );
  return (
    <>
      <Panel flush>
        <QueryView query={instances} skeleton={<SkeletonLines lines={8} />}>
          {(rows) => (
            <DataTable<Instance>
              label={t('fleet.instances')}
              rows={rows}
              rowKey={nameOf}
              columns={columns}
              selection={canChange ? selection : undefined}
              onEndReached={() => {
                if (instances.hasNextPage && !instances.isFetchingNextPage) void instances.fetchNextPage();
              }}
              empty={<NoInstances isFiltered={isFiltered} />}
            />
          )}
        </QueryView>
        {instances.hasNextPage && (
          <div className={classes.count}>{t('fleet.loaded', { count: instances.data?.length ?? 0 })}</div>
        )}
      </Panel>
      {selected.size > 0 && <SelectionBar names={[...selected]} onClear={() => setSelected(new Set())} />}
    </>
  );
}

function NoInstances({ isFiltered }: { isFiltered: boolean }) {
  const t = useT();
  return isFiltered ? (
    <EmptyState icon={<IconSearch size={20} />} title={t('fleet.noMatch')} hint={t('fleet.noMatchHint')} />
  ) : (
    <EmptyState icon={<IconServer2 size={20} />} title={t('fleet.empty')} hint={t('fleet.emptyHint')} />
  );
}
