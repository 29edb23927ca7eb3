import { useQuery } from '@tanstack/react-query';
import type { Instance } from '@/api/instances';
import { IconAlertTriangle, IconCircleCheck } from '@/components/icons';
import { ButtonLink } from '@/components/links';
import { useT } from '@/lib/i18n/context';
import { openIncidentsQuery } from './api';
import classes from './instance.module.css';

const SILENT: Instance['state'][] = ['unreachable', 'stopped', 'failed'];

/**
 * What needs attention on an instance, each with a link: a server that does not answer, open incidents, drift (values
 * that differ from the configured ones) and pending restarts. Never empty, so that the content below does not move.
 */
export function AttentionPanel({ instance }: { instance: Instance }) {
  const t = useT();
  const { data: incidents } = useQuery(openIncidentsQuery(instance.id));
  const incidentCount = incidents?.length ?? 0;
  const isSilent = SILENT.includes(instance.state);
  const isCalm = !isSilent && !incidentCount && !instance.drifted_count && !instance.pending_restart_count;
  return (
    <div className={classes.attention} data-calm={isCalm || undefined}>
      {isCalm ? (
        incidents && (
          <>
            <IconCircleCheck size={18} aria-hidden="true" />
            <span>{t('instance.calm')}</span>
          </>
        )
      ) : (
        <>
          <IconAlertTriangle size={18} aria-hidden="true" />
          <strong>{t('instance.attention')}</strong>
          {isSilent && <span>{t('instance.silent')}</span>}
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
        </>
      )}
    </div>
  );
}
