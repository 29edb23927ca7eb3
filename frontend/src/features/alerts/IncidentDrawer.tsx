import { Button, Drawer, Group, Stack, Timeline } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { useCan } from '@/api/session';
import { formatValue, unitOf } from '@/charts/units';
import { ErrorPanel } from '@/components/ErrorPanel';
import { FactList } from '@/components/FactList';
import { IconCheck, IconVolumeOff } from '@/components/icons';
import { ButtonLink } from '@/components/links';
import { Moment } from '@/components/Moment';
import { QueryView } from '@/components/QueryView';
import { useT, useApiText } from '@/lib/i18n/context';
import { incidentQuery, useMetrics, useIncidentAcknowledge, type IncidentDetail } from './api';
import { IncidentChart } from './IncidentChart';
import { IncidentState } from './IncidentList';
import { conditionText, ruleName } from './ruleText';
import { SilenceForm } from './SilenceForm';
import classes from './alerts.module.css';

export function IncidentDrawer({ id, onClose }: { id: string | undefined; onClose: () => void }) {
  const t = useT();
  return (
    <Drawer opened={id !== undefined} onClose={onClose} size={480} title={t('incidents.title')}>
      {id && <IncidentBody id={id} />}
    </Drawer>
  );
}

function IncidentBody({ id }: { id: string }) {
  const incident = useQuery(incidentQuery(id));
  return <QueryView query={incident}>{(data) => <IncidentView incident={data} />}</QueryView>;
}

function IncidentView({ incident }: { incident: IncidentDetail }) {
  const t = useT();
  const apiText = useApiText();
  const canAct = useCan('operator');
  const [isSilencing, setIsSilencing] = useState(false);
  const acknowledge = useIncidentAcknowledge();
  const metrics = useMetrics();
  const metric = metrics.find(({ name }) => name === incident.metric);
  const show = (value: number | null) => formatValue(value, unitOf(metric?.unit ?? 'count'), t);
  const advised = (what: 'cause' | 'action', said: string) =>
    apiText(`${what}.${incident.metric}`, apiText(`fact.${what}.usual`, said));
  return (
    <Stack>
      <FactList
        facts={[
          { label: t('incidents.rule'), value: ruleName(incident.rule_name, apiText) },
          { label: t('fleet.name'), value: incident.instance_name },
          { label: t('fleet.state'), value: <IncidentState incident={incident} t={t} /> },
          { label: t('incidents.condition'), value: conditionText(incident, metrics, t) },
          { label: t('incidents.openedValue'), value: show(incident.opened_value) },
          { label: t('incidents.value'), value: show(incident.last_value) },
          { label: t('incidents.cause'), value: advised('cause', incident.likely_cause) },
          { label: t('incidents.action'), value: advised('action', incident.next_action) },
        ]}
      />
      {incident.instance_id && <IncidentChart incident={incident} instance={incident.instance_id} />}
      <Timeline bulletSize={14} lineWidth={2} active={incident.timeline.length}>
        {incident.timeline.map((event) => (
          <Timeline.Item key={`${event.at}:${event.kind}`} title={t(`incidents.event.${event.kind}`)}>
            <div className={classes.event}>
              <Moment at={event.at} /> {event.value !== null && `· ${show(event.value)}`}
            </div>
            {event.detail && <div className={classes.event}>{event.detail}</div>}
          </Timeline.Item>
        ))}
      </Timeline>
      {acknowledge.isError && <ErrorPanel error={acknowledge.error} />}
      <Group gap="xs">
        {canAct && !incident.resolved_at && !incident.acknowledged_at && (
          <Button
            leftSection={<IconCheck size={14} />}
            loading={acknowledge.isPending}
            onClick={() => acknowledge.mutate(incident.id)}
          >
            {t('incidents.acknowledge')}
          </Button>
        )}
        {canAct && !incident.resolved_at && (
          <Button
            variant="default"
            leftSection={<IconVolumeOff size={14} />}
            onClick={() => setIsSilencing(true)}
          >
            {t('incidents.silence')}
          </Button>
        )}
        {incident.instance_id && (
          <ButtonLink
            variant="default"
            to="/instances/$instanceId/monitoring"
            params={{ instanceId: incident.instance_id }}
          >
            {t('incidents.monitoring')}
          </ButtonLink>
        )}
      </Group>
      {isSilencing && (
        <SilenceForm
          rules={incident.rule_id ? [{ id: incident.rule_id, name: incident.rule_name }] : []}
          covers={{ ruleId: incident.rule_id, instanceId: incident.instance_id ?? undefined }}
          onClose={() => setIsSilencing(false)}
        />
      )}
    </Stack>
  );
}
