import { Button } from '@mantine/core';
import { useInfiniteQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { useCan } from '@/api/session';
import { DataTable, type Column } from '@/components/DataTable';
import { EmptyState } from '@/components/EmptyState';
import { IconPlus, IconVolumeOff } from '@/components/icons';
import { Moment } from '@/components/Moment';
import { MoreButton } from '@/components/MoreButton';
import { Panel } from '@/components/Panel';
import { QueryView } from '@/components/QueryView';
import { StatusBadge } from '@/components/StatusBadge';
import { useNow } from '@/components/useNow';
import { useT, type Translate } from '@/lib/i18n/context';
import { writeTags } from '@/lib/tags';
import { rulesQuery, silencesQuery, useSilenceEnd, type AlertRule, type Silence } from './api';
import { SilenceForm } from './SilenceForm';

const TICK_MS = 30_000;

export function SilenceList() {
  const t = useT();
  const canChange = useCan('operator');
  const now = useNow(TICK_MS);
  const silences = useInfiniteQuery(silencesQuery);
  const { data: rules = [] } = useInfiniteQuery(rulesQuery);
  const end = useSilenceEnd();
  const [isCreating, setIsCreating] = useState(false);
  return (
    <Panel
      flush
      title={t('alerts.tab.silences')}
      actions={
        canChange && (
          <Button leftSection={<IconPlus size={14} />} onClick={() => setIsCreating(true)}>
            {t('silences.new')}
          </Button>
        )
      }
    >
      <QueryView query={silences}>
        {(rows) => (
          <DataTable
            label={t('alerts.tab.silences')}
            rows={rows}
            rowKey={(row) => row.id}
            columns={columnsOf(t, now, rules, canChange ? (id) => end.mutate(id) : undefined)}
            empty={
              <EmptyState
                icon={<IconVolumeOff size={20} />}
                title={t('silences.empty')}
                hint={t('silences.emptyHint')}
              />
            }
          />
        )}
      </QueryView>
      <MoreButton query={silences} />
      {isCreating && <SilenceForm rules={rules} onClose={() => setIsCreating(false)} />}
    </Panel>
  );
}

function coverage(silence: Silence, rules: AlertRule[], t: Translate): string {
  const rule = rules.find(({ id }) => id === silence.rule_id)?.name ?? silence.rule_id;
  return (
    [rule, silence.instance_id, writeTags(silence.tags)].filter(Boolean).join(', ') ||
    t('silences.everything')
  );
}

function columnsOf(
  t: Translate,
  now: number,
  rules: AlertRule[],
  end?: (id: string) => void,
): Column<Silence>[] {
  const isActive = (row: Silence) =>
    new Date(row.starts_at).getTime() <= now && new Date(row.ends_at).getTime() > now;
  return [
    { key: 'reason', header: t('silences.reason'), render: (row) => <strong>{row.reason}</strong> },
    { key: 'covers', header: t('silences.covers'), render: (row) => coverage(row, rules, t) },
    {
      key: 'state',
      header: t('fleet.state'),
      render: (row) => (
        <StatusBadge tone={isActive(row) ? 'info' : 'neutral'}>
          {t(isActive(row) ? 'silences.active' : 'silences.ended')}
        </StatusBadge>
      ),
    },
    { key: 'until', header: t('silences.until'), render: (row) => <Moment at={row.ends_at} /> },
    { key: 'by', header: t('change.by'), render: (row) => row.created_by, isSecondary: true },
    {
      key: 'actions',
      header: '',
      align: 'right',
      render: (row) =>
        end &&
        isActive(row) && (
          <Button variant="subtle" size="compact-xs" onClick={() => end(row.id)}>
            {t('silences.end')}
          </Button>
        ),
    },
  ];
}
