import { Alert, Group } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import type { Instance } from '@/api/instances';
import { IconAlertTriangle } from '@/components/icons';
import { ButtonLink } from '@/components/links';
import { useT } from '@/lib/i18n/context';
import { openIncidentsQuery } from './api';

/** Open incidents, drift and pending restarts, each with the way to look at them. Nothing when there is nothing. */
export function AttentionPanel({ instance }: { instance: Instance }) {
  const t = useT();
  const { data: incidents } = useQuery(openIncidentsQuery(instance.id));
  const incidentCount = incidents?.length ?? 0;
  if (!incidentCount && !instance.drifted_count && !instance.pending_restart_count) return null;
  return (
    <Alert
      variant="light"
      bg="var(--fqc-warn-bg)"
      icon={<IconAlertTriangle size={18} color="var(--fqc-warn)" />}
      title={t('instance.attention')}
      c="inherit"
    >
      <Group gap="xs">
        {incidentCount > 0 && (
          <ButtonLink
            variant="default"
            to="/instances/$instanceId/alerts"
            params={{ instanceId: instance.id }}
            search={{ show: 'open' }}
          >
            {t('fleet.attention.incidents', { count: incidentCount })}
          </ButtonLink>
        )}
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
