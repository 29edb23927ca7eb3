import { Button, Chip, NativeSelect } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { classesQuery } from '@/api/classes';
import { FilterBar, FilterChips, FilterInput } from '@/components/FilterBar';
import { useT } from '@/lib/i18n/context';
import { STATES, type FleetSearch } from './search';

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
      <NativeSelect
        size="xs"
        aria-label={t('fleet.state')}
        data={[
          { value: '', label: t('fleet.anyState') },
          ...STATES.map((state) => ({ value: state, label: t(`instance.state.${state}`) })),
        ]}
        value={search.state ?? ''}
        onChange={(event) => onChange({ state: STATES.find((state) => state === event.currentTarget.value) })}
      />
      <NativeSelect
        size="xs"
        aria-label={t('fleet.class')}
        data={[{ value: '', label: t('fleet.anyClass') }, ...classList.map(({ name }) => name)]}
        value={search.class ?? ''}
        onChange={(event) => onChange({ class: event.currentTarget.value || undefined })}
      />
      <FilterInput
        label={t('fleet.tag')}
        value={search.tag}
        onChange={(next) => onChange({ tag: next })}
        width={170}
      />
      <FilterChips>
        <Chip {...flag('pending')}>{t('fleet.filterPending')}</Chip>
        <Chip {...flag('drifted')}>{t('fleet.filterDrifted')}</Chip>
        <Chip {...flag('bare')}>{t('fleet.filterBare')}</Chip>
      </FilterChips>
      {isFiltered && (
        <Button variant="subtle" size="compact-xs" onClick={onClear}>
          {t('fleet.clearFilters')}
        </Button>
      )}
    </FilterBar>
  );
}
