import { Alert, Group } from '@mantine/core';
import type { Instance } from '@/api/instances';
import { IconAlertTriangle } from '@/components/icons';
import { ButtonLink } from '@/components/links';
import { useT } from '@/lib/i18n/context';

/** Drift and pending restarts, each with the way to look at them. Nothing when there is nothing. */
export function AttentionPanel({ instance }: { instance: Instance }) {
  const t = useT();
  if (!instance.drifted_count && !instance.pending_restart_count) return null;
  return (
    <Alert
      variant="light"
      color="yellow"
      icon={<IconAlertTriangle size={18} />}
      title={t('instance.attention')}
      c="inherit"
    >
      <Group gap="xs">
        {instance.pending_restart_count > 0 && (
          <ButtonLink
            variant="default"
            to="/instances/$instanceId/parameters"
            params={{ instanceId: instance.id }}
            search={{ filter: 'pending' }}
          >
            {t('fleet.attention.pending', { count: instance.pending_restart_count })}
          </ButtonLink>
        )}
        {instance.drifted_count > 0 && (
          <ButtonLink
            variant="default"
            to="/instances/$instanceId/parameters"
            params={{ instanceId: instance.id }}
            search={{ filter: 'drifted' }}
          >
            {t('fleet.attention.drifted', { count: instance.drifted_count })}
          </ButtonLink>
        )}
      </Group>
    </Alert>
  );
}
