import { SegmentedControl, Stack, TextInput } from '@mantine/core';
import type { Timing } from '@/api/changes';
import { useI18n } from '@/lib/i18n/context';
import type { MaintenanceWindow } from '@/lib/maintenanceWindow';
import { formatUtc, toLocalInput } from '@/lib/time';
import { WindowOpening } from './WindowOpening';

interface TimingPickerProps {
  /** The instance's maintenance window. Absent for a change of many instances, since each has its own. */
  window?: MaintenanceWindow;
  timing: Timing;
  onChange: (timing: Timing) => void;
}

const HOUR_MS = 3_600_000;

/**
 * Selects when a change runs: now, at the next opening of the maintenance window, or at a time that is entered in the
 * viewer's time zone.
 */
export function TimingPicker({ window, timing, onChange }: TimingPickerProps) {
  const { t } = useI18n();
  const choose = (when: string) => {
    if (when === 'at') onChange({ when, at: new Date(Date.now() + HOUR_MS).toISOString() });
    else onChange({ when: when === 'window' ? 'window' : 'now', at: null });
  };
  return (
    <Stack gap={6}>
      <SegmentedControl
        size="xs"
        fullWidth
        aria-label={t('timing.label')}
        value={timing.when}
        onChange={choose}
        data={[
          { value: 'now', label: t('timing.now') },
          { value: 'window', label: t('timing.window') },
          { value: 'at', label: t('timing.at') },
        ]}
      />
      {timing.when === 'window' && window && <WindowOpening window={window} />}
      {timing.when === 'at' && timing.at && (
        <TextInput
          type="datetime-local"
          aria-label={t('timing.at')}
          description={formatUtc(timing.at)}
          value={toLocalInput(timing.at)}
          onChange={(event) => {
            const chosen = new Date(event.currentTarget.value);
            if (!Number.isNaN(chosen.getTime())) onChange({ when: 'at', at: chosen.toISOString() });
          }}
        />
      )}
    </Stack>
  );
}
