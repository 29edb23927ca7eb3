import { Button, Chip, Group, Select } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { FilterBar, FilterInput } from '@/components/FilterBar';
import { useT } from '@/lib/i18n/context';
import { classesQuery } from './api';
import { STATES, type FleetSearch, type State } from './search';

interface FleetFiltersProps {
  search: FleetSearch;
  onChange: (next: Partial<FleetSearch>) => void;
  onClear: () => void;
}

export function FleetFilters({ search, onChange, onClear }: FleetFiltersProps) {
  const t = useT();
  const { data: classList = [] } = useQuery(classesQuery);
  const isFiltered = Object.values(search).some(Boolean);
  const flag = (name: 'drifted' | 'pending' | 'bare') => ({
    checked: search[name] ?? false,
    onChange: () => onChange({ [name]: search[name] ? undefined : true }),
    size: 'xs' as const,
  });
  return (
    <FilterBar>
      <FilterInput
        label={t('fleet.search')}
        value={search.search}
        onChange={(next) => onChange({ search: next })}
        width={230}
      />
      <Select
        aria-label={t('fleet.state')}
        placeholder={t('fleet.anyState')}
        clearable
        w={140}
        data={STATES.map((state) => ({ value: state, label: t(`instance.state.${state}`) }))}
        value={search.state ?? null}
        onChange={(next) => onChange({ state: (next as State | null) ?? undefined })}
      />
      <Select
        aria-label={t('fleet.class')}
        placeholder={t('fleet.anyClass')}
        clearable
        w={150}
        data={classList.map(({ name }) => name)}
        value={search.class ?? null}
        onChange={(next) => onChange({ class: next ?? undefined })}
      />
      <FilterInput
        label={t('fleet.tag')}
        value={search.tag}
        onChange={(next) => onChange({ tag: next })}
        width={170}
      />
      <Group gap={6}>
        <Chip {...flag('pending')}>{t('fleet.filterPending')}</Chip>
        <Chip {...flag('drifted')}>{t('fleet.filterDrifted')}</Chip>
        <Chip {...flag('bare')}>{t('fleet.filterBare')}</Chip>
      </Group>
      {isFiltered && (
        <Button variant="subtle" size="compact-xs" onClick={onClear}>
          {t('fleet.clearFilters')}
        </Button>
      )}
    </FilterBar>
  );
}
