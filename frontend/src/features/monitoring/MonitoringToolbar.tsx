import { Button, SegmentedControl, Select } from '@mantine/core';
import { useDebouncedValue } from '@mantine/hooks';
import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { FilterBar } from '@/components/FilterBar';
import { IconPlayerPause, IconPlayerPlay, IconZoomReset } from '@/components/icons';
import { useI18n } from '@/lib/i18n/context';
import { formatLocal } from '@/lib/time';
import { instanceChoicesQuery } from './api';
import { RANGES, type MonitoringSearch, type Range } from './search';

interface MonitoringToolbarProps {
  instanceId: string;
  search: MonitoringSearch;
  onChange: (next: Partial<MonitoringSearch>) => void;
}

export function MonitoringToolbar({ instanceId, search, onChange }: MonitoringToolbarProps) {
  const { t, language } = useI18n();
  const isZoomed = search.from !== undefined && search.to !== undefined;
  return (
    <FilterBar>
      <SegmentedControl
        size="xs"
        aria-label={t('monitoring.range')}
        value={isZoomed ? '' : (search.range ?? '1h')}
        onChange={(range) => onChange({ range: range as Range, from: undefined, to: undefined })}
        data={RANGES.map((range) => ({ value: range, label: t(`monitoring.range.${range}`) }))}
      />
      {isZoomed ? (
        <Button
          variant="default"
          leftSection={<IconZoomReset size={14} />}
          onClick={() => onChange({ from: undefined, to: undefined })}
        >
          {formatLocal(search.from ?? 0, language)} – {formatLocal(search.to ?? 0, language)}
        </Button>
      ) : (
        <Button
          variant={search.live ? 'filled' : 'default'}
          aria-pressed={search.live ?? false}
          leftSection={search.live ? <IconPlayerPause size={14} /> : <IconPlayerPlay size={14} />}
          onClick={() => onChange({ live: search.live ? undefined : true })}
        >
          {t('monitoring.live')}
        </Button>
      )}
      <CompareSelect
        instanceId={instanceId}
        value={search.compare}
        onChange={(compare) => onChange({ compare })}
      />
    </FilterBar>
  );
}

interface CompareSelectProps {
  instanceId: string;
  value: string | undefined;
  onChange: (value: string | undefined) => void;
}

function CompareSelect({ instanceId, value, onChange }: CompareSelectProps) {
  const { t } = useI18n();
  const [typed, setTyped] = useState('');
  const [wanted] = useDebouncedValue(typed, 250);
  const { data = [] } = useQuery(instanceChoicesQuery(wanted));
  return (
    <Select
      aria-label={t('monitoring.compare')}
      placeholder={t('monitoring.compare')}
      w={190}
      searchable
      clearable
      filter={({ options }) => options}
      searchValue={typed}
      onSearchChange={setTyped}
      data={data.filter((item) => item.value !== instanceId)}
      value={value ?? null}
      onChange={(next) => onChange(next ?? undefined)}
    />
  );
}
