import { Button, SegmentedControl } from '@mantine/core';
import { useInfiniteQuery } from '@tanstack/react-query';
import { formatValue, unitOf } from '@/charts/units';
import type { Column } from '@/components/column';
import { EmptyState } from '@/components/EmptyState';
import { IconBell } from '@/components/icons';
import { InstanceLink } from '@/components/InstanceLink';
import { ListPanel } from '@/components/ListPanel';
import { Moment } from '@/components/Moment';
import { StatusBadge } from '@/components/StatusBadge';
import { useT, useApiText, type TranslateApiText, type Translate } from '@/lib/i18n/context';
import classes from './alerts.module.css';
import { incidentsQuery, useMetrics, type Incident, type Metric } from './api';
import { ruleName } from './ruleText';

interface IncidentListProps {
  instance?: string;
  isAll: boolean;
  onShow: (isAll: boolean) => void;
  onOpen: (id: string) => void;
}

export function IncidentList({ instance, isAll, onShow, onOpen }: IncidentListProps) {
  const t = useT();
  const apiText = useApiText();
  const incidents = useInfiniteQuery(incidentsQuery({ instance, is_open: isAll ? undefined : true }));
  const metrics = useMetrics();
  return (
    <ListPanel
      query={incidents}

      actions={
        <SegmentedControl
          size="xs"
          aria-label={t('incidents.show')}
          value={isAll ? 'all' : 'open'}
          onChange={(next) => onShow(next === 'all')}
          data={[
            { value: 'open', label: t('incidents.open') },
            { value: 'all', label: t('incidents.all') },
          ]}
        />
      }
      label={t('alerts.tab.incidents')}
      rowKey={(row) => row.id}
      columns={columnsOf(t, apiText, metrics, onOpen).filter(({ key }) => !instance || key !== 'instance')}
      empty={
        <EmptyState
          icon={<IconBell size={20} />}
          title={t('incidents.empty')}
          hint={t('incidents.emptyHint')}
        />
      }
    />
  );
}

function columnsOf(
  t: Translate,
  apiText: TranslateApiText,
  metrics: Metric[],
  onOpen: (id: string) => void,
): Column<Incident>[] {
  const show = (row: Incident) => {
    const unit = metrics.find(({ name }) => name === row.metric)?.unit ?? 'count';
    return formatValue(row.last_value, unitOf(unit), t);
  };
  return [
    {
      key: 'rule',
      header: t('incidents.rule'),
      render: (row) => (
        <Button
          variant="transparent"
          size="compact-xs"
          px={0}
          h="auto"
          classNames={{ label: classes.rule }}
          onClick={() => onOpen(row.id)}
        >
          {ruleName(row.rule_name, apiText)}
        </Button>
      ),
    },
    {
      key: 'instance',
      header: t('fleet.name'),
      render: (row) => <InstanceLink id={row.instance_id} name={row.instance_name} />,
    },
    { key: 'state', header: t('fleet.state'), render: (row) => <IncidentState incident={row} t={t} /> },
    { key: 'value', header: t('incidents.value'), align: 'right', render: show, isSecondary: true },
    { key: 'opened', header: t('incidents.opened'), render: (row) => <Moment at={row.opened_at} relative /> },
    {
      key: 'resolved',
      header: t('incidents.resolved'),
      render: (row) => <Moment at={row.resolved_at} relative />,
      isSecondary: true,
    },
  ];
}

export function IncidentState({ incident, t }: { incident: Incident; t: Translate }) {
  if (incident.resolved_at) return <StatusBadge tone="ok">{t('incidents.state.resolved')}</StatusBadge>;
  return (
    <StatusBadge tone={incident.severity === 'critical' ? 'danger' : 'warn'}>
      {t(incident.acknowledged_at ? 'incidents.state.acknowledged' : `rules.severity.${incident.severity}`)}
    </StatusBadge>
  );
}
