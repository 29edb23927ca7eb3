import { NumberInput, SimpleGrid } from '@mantine/core';
import { useFieldMessage } from '@/components/useFieldMessage';
import { Panel } from '@/components/Panel';
import { useT } from '@/lib/i18n/context';
import type { SettingsPanelProps } from './panelProps';

const FIELDS = [
  'poll_interval_seconds',
  'raw_retention_hours',
  'minute_retention_days',
  'hour_retention_days',
] as const;

export function RetentionPanel({ draft, error, onChange }: SettingsPanelProps) {
  const t = useT();
  const said = useFieldMessage();
  return (
    <Panel title={t('settings.retention')}>
      <SimpleGrid cols={{ base: 1, xs: 2 }} spacing="sm">
        {FIELDS.map((name) => (
          <NumberInput
            key={name}
            label={t(`settings.${name}`)}
            min={1}
            value={draft[name]}
            error={said(error, name)}
            onChange={(value) => onChange({ [name]: Number(value) })}
          />
        ))}
      </SimpleGrid>
    </Panel>
  );
}
