import { Button, SegmentedControl } from '@mantine/core';
import { FilterBar } from '@/components/FilterBar';
import { InstanceSelect } from '@/components/InstanceSelect';
import { IconPlayerPause, IconPlayerPlay, IconZoomReset } from '@/components/icons';
import { useI18n } from '@/lib/i18n/context';
import { formatLocal } from '@/lib/time';
import { CustomSpan } from './CustomSpan';
import { RANGES, type MonitoringSearch, type Range } from './search';

const SHORT_SPAN_MS = 5 * 60_000;

interface MonitoringToolbarProps {
  instanceId: string;
  search: MonitoringSearch;
  onChange: (next: Partial<MonitoringSearch>) => void;
}

export function MonitoringToolbar({ instanceId, search, onChange }: MonitoringToolbarProps) {
  const { t, locale } = useI18n();
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
          title={t('monitoring.resetZoom')}
          aria-label={`${t('monitoring.resetZoom')}: ${spanText(search, locale)}`}
          onClick={() => onChange({ from: undefined, to: undefined })}
        >
          {spanText(search, locale)}
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
      <CustomSpan search={search} onChange={onChange} />
      <Button
        variant={search.previous ? 'filled' : 'default'}
        aria-pressed={search.previous ?? false}
        onClick={() => onChange({ previous: search.previous ? undefined : true })}
      >
        {t('monitoring.previous')}
      </Button>
      <InstanceSelect
        aria-label={t('monitoring.compare')}
        placeholder={t('monitoring.compare')}
        w={190}
        except={[instanceId]}
        value={search.compare}
        onChange={(compare) => onChange({ compare })}
      />
    </FilterBar>
  );
}

/** The selected span as text, with seconds if it is so short that its ends could look the same. */
function spanText({ from = 0, to = 0 }: MonitoringSearch, locale: string): string {
  const isShort = to - from < SHORT_SPAN_MS;
  return `${formatLocal(from, locale, isShort)} – ${formatLocal(to, locale, isShort)}`;
}
