import { Chip } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { useNavigate, useParams, useSearch } from '@tanstack/react-router';
import { useState } from 'react';
import {
  instanceParametersQuery,
  instanceQuery,
  type Instance,
  type InstanceParameter,
} from '@/api/instances';
import { useCan } from '@/api/session';
import { DataTable } from '@/components/DataTable';
import { EmptyState } from '@/components/EmptyState';
import { FilterBar, FilterChips, FilterInput } from '@/components/FilterBar';
import { IconAdjustments } from '@/components/icons';
import { Panel } from '@/components/Panel';
import { QueryView, SkeletonLines } from '@/components/QueryView';
import { useT, useApiText } from '@/lib/i18n/context';
import { DraftBar } from './DraftBar';
import { parameterColumns } from './columns';
import { countByFilter, filterParameters } from './parameterList';
import { ReviewDrawer } from './ReviewDrawer';
import { FILTERS, type ParameterFilter } from './search';
import { useDraft } from './useDraft';
import classes from './parameters.module.css';

export function ParametersPage() {
  const { instanceId } = useParams({ from: '/console/instances/$instanceId' });
  const { data: instance } = useQuery(instanceQuery(instanceId));
  const parameters = useQuery(instanceParametersQuery(instanceId));
  if (!instance) return null;
  return (
    <QueryView query={parameters} skeleton={<SkeletonLines lines={10} />}>
      {({ data }) => (
        <ParameterEditor key={instanceId} instance={instance} rows={data.items} isLive={data.is_live} />
      )}
    </QueryView>
  );
}

function ParameterEditor({
  instance,
  rows,
  isLive,
}: {
  instance: Instance;
  rows: InstanceParameter[];
  isLive: boolean;
}) {
  const t = useT();
  const canChange = useCan('operator');
  const isAdmin = useCan('admin');
  const {
    filter = 'all',
    search = '',
    set,
  } = useSearch({ from: '/console/instances/$instanceId/parameters' });
  const navigate = useNavigate({ from: '/instances/$instanceId/parameters' });
  // Removes the prepared values from the address; otherwise a reload would prepare discarded values again.
  const draft = useDraft(instance.id, set, () => {
    void navigate({ search: (old) => ({ ...old, set: undefined }), replace: true });
  });
  const [focusedName, setFocusedName] = useState<string>();
  const [isReviewing, setIsReviewing] = useState(set !== undefined);
  const apiText = useApiText();
  const shown = filterParameters(
    rows.map((row) => ({ ...row, description: apiText(`parameter.${row.name}`, row.description) })),
    filter,
    search,
  );
  return (
    <>
      <ParameterFilters rows={rows} filter={filter} search={search} />
      {!isLive && <p className={classes.offline}>{t('parameters.notLive')}</p>}
      <Panel flush>
        <DataTable
          label={t('parameters.title')}
          rows={shown}
          rowKey={(row) => row.name}
          rowHeight={46}
          maxHeight="calc(100dvh - 300px)"
          columns={parameterColumns(t, {
            instance,
            draft,
            canChange,
            isAdmin,
            focused: { name: focusedName, set: setFocusedName },
          })}
          initialSort={{ key: 'name', direction: 'ascending' }}
          empty={
            <EmptyState
              icon={<IconAdjustments size={20} />}
              title={t('parameters.noMatch')}
              hint={t('fleet.noMatchHint')}
            />
          }
        />
      </Panel>
      <DraftBar draft={draft} onReview={() => setIsReviewing(true)} />
      <ReviewDrawer
        instance={instance}
        draft={draft}
        isOpen={isReviewing}
        onClose={() => setIsReviewing(false)}
      />
    </>
  );
}

interface ParameterFiltersProps {
  rows: InstanceParameter[];
  filter: ParameterFilter;
  search: string;
}

function ParameterFilters({ rows, filter, search }: ParameterFiltersProps) {
  const t = useT();
  const navigate = useNavigate({ from: '/instances/$instanceId/parameters' });
  const counts = countByFilter(rows);
  return (
    <FilterBar>
      <FilterInput
        label={t('parameters.search')}
        value={search}
        width={280}
        onChange={(next) => void navigate({ search: (old) => ({ ...old, search: next }), replace: true })}
      />
      <Chip.Group
        value={filter}
        onChange={(next) =>
          void navigate({ search: (old) => ({ ...old, filter: next as ParameterFilter }), replace: true })
        }
      >
        <FilterChips>
          {FILTERS.map((item) => (
            <Chip key={item} value={item} size="xs">
              {t(`parameters.filter.${item}`)} {counts[item]}
            </Chip>
          ))}
        </FilterChips>
      </Chip.Group>
    </FilterBar>
  );
}
