import { Button } from '@mantine/core';
import { useInfiniteQuery, useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { instanceNameQuery } from '@/api/instances';
import { useCan } from '@/api/session';
import type { Column } from '@/components/column';
import { EmptyState } from '@/components/EmptyState';
import { ErrorPanel } from '@/components/ErrorPanel';
import { IconPlus, IconVolumeOff } from '@/components/icons';
import { ListPanel } from '@/components/ListPanel';
import { Moment } from '@/components/Moment';
import { StatusBadge } from '@/components/StatusBadge';
import { useNow } from '@/components/useNow';
import { useT, useApiText, type Translate } from '@/lib/i18n/context';
import { writeTags } from '@/lib/tags';
import { rulesQuery, silencesQuery, useSilenceEnd, type AlertRule, type Silence } from './api';
import { ruleName } from './ruleText';
import { SilenceForm } from './SilenceForm';
import classes from './alerts.module.css';

const TICK_MS = 30_000;

export function SilenceList() {
  const t = useT();
  const canChange = useCan('operator');
  const silences = useInfiniteQuery(silencesQuery);
  // The time with which silences are compared. It is never before the last response, so that a silence which started or
  // ended just before the response is shown as such.
  const now = Math.max(useNow(TICK_MS), silences.dataUpdatedAt);
  const { data: rules = [] } = useInfiniteQuery(rulesQuery);
  const end = useSilenceEnd();
  const [isCreating, setIsCreating] = useState(false);
  return (
    <>
      <ListPanel
        query={silences}

        actions={
          canChange && (
            <Button leftSection={<IconPlus size={14} />} onClick={() => setIsCreating(true)}>
              {t('silences.new')}
            </Button>
          )
        }
        label={t('alerts.tab.silences')}
        rowKey={(row) => row.id}
        columns={columnsOf(t, now, rules, canChange ? (id) => end.mutate(id) : undefined)}
        empty={
          <EmptyState
            icon={<IconVolumeOff size={20} />}
            title={t('silences.empty')}
            hint={t('silences.emptyHint')}
          />
        }
      >
        {end.isError && <ErrorPanel error={end.error} />}
      </ListPanel>
      {isCreating && <SilenceForm rules={rules} onClose={() => setIsCreating(false)} />}
    </>
  );
}

function Coverage({ silence, rules, t }: { silence: Silence; rules: AlertRule[]; t: Translate }) {
  const apiText = useApiText();
  const { rule_id, instance_id, tags } = silence;
  const { data: instance } = useQuery({
    ...instanceNameQuery(instance_id ?? ''),
    enabled: instance_id !== null,
  });
  const rule = rules.find(({ id }) => id === rule_id);
  const parts = [
    rule ? ruleName(rule.name, apiText) : rule_id,
    instance?.name ?? instance_id,
    writeTags(tags),
  ].filter(Boolean);
  return <div className={classes.covers}>{parts.join(', ') || t('silences.everything')}</div>;
}

type Standing = 'planned' | 'active' | 'ended';

function standingOf({ starts_at, ends_at }: Silence, now: number): Standing {
  if (Date.parse(starts_at) > now) return 'planned';
  return Date.parse(ends_at) > now ? 'active' : 'ended';
}

function columnsOf(
  t: Translate,
  now: number,
  rules: AlertRule[],
  end?: (id: string) => void,
): Column<Silence>[] {
  return [
    {
      key: 'reason',
      header: t('silences.reason'),
      render: (row) => (
        <>
          <strong>{row.reason}</strong>
          <Coverage silence={row} rules={rules} t={t} />
        </>
      ),
    },
    {
      key: 'state',
      header: t('fleet.state'),
      render: (row) => (
        <StatusBadge tone={standingOf(row, now) === 'active' ? 'info' : 'neutral'}>
          {t(`silences.${standingOf(row, now)}`)}
        </StatusBadge>
      ),
      isSecondary: true,
    },
    { key: 'until', header: t('silences.until'), render: (row) => <Moment at={row.ends_at} /> },
    { key: 'by', header: t('change.by'), render: (row) => row.created_by, isSecondary: true },
    {
      key: 'actions',
      header: '',
      align: 'right',
      render: (row) =>
        end &&
        standingOf(row, now) !== 'ended' && (
          <Button
            variant="subtle"
            size="compact-xs"
            onClick={() => end(row.id)}
            aria-label={t('silences.endOf', { reason: row.reason })}
          >
            {t('silences.end')}
          </Button>
        ),
    },
  ];
}
