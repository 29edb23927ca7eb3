import { Stack, Switch, Textarea } from '@mantine/core';
import { useFieldMessage } from '@/components/useFieldMessage';
import { Panel } from '@/components/Panel';
import { useT } from '@/lib/i18n/context';
import type { SettingsPanelProps } from './panelProps';

export function NetworkPanel({ draft, error, onChange }: SettingsPanelProps) {
  const t = useT();
  const said = useFieldMessage();
  return (
    <Panel title={t('settings.safety')}>
      <Stack gap="md">
        <Textarea
          label={t('settings.endpoint_networks')}
          description={t('settings.endpoint_networksHint')}
          size="xs"
          autosize
          minRows={3}
          value={draft.endpoint_networks}
          error={said(error, 'endpoint_networks')}
          onChange={(event) => onChange({ endpoint_networks: event.currentTarget.value })}
        />
        <Textarea
          label={t('settings.channel_networks')}
          description={t('settings.channel_networksHint')}
          size="xs"
          autosize
          minRows={2}
          value={draft.channel_networks}
          error={said(error, 'channel_networks')}
          onChange={(event) => onChange({ channel_networks: event.currentTarget.value })}
        />
        <Switch
          label={t('settings.is_four_eyes')}
          description={t('settings.is_four_eyesHint')}
          checked={draft.is_four_eyes}
          onChange={(event) => onChange({ is_four_eyes: event.currentTarget.checked })}
        />
        <Switch
          label={t('settings.trial_role')}
          description={t('settings.trial_roleHint')}
          checked={draft.trial_role === 'admin'}
          onChange={(event) => onChange({ trial_role: event.currentTarget.checked ? 'admin' : 'operator' })}
        />
      </Stack>
    </Panel>
  );
}
