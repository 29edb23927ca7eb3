import { useInfiniteQuery } from '@tanstack/react-query';
import type { Column } from '@/components/column';
import { EmptyState } from '@/components/EmptyState';
import { TextLink } from '@/components/links';
import { ListPanel } from '@/components/ListPanel';
import { Moment } from '@/components/Moment';
import { useT, type Translate } from '@/lib/i18n/context';
import { fleetAppliesQuery, type FleetApply } from './api';
import { ApplyStateBadge } from './ApplyStateBadge';
import { subjectOf } from './subject';

export function FleetAppliesPanel() {
  const t = useT();
  const applies = useInfiniteQuery(fleetAppliesQuery);
  return (
    <ListPanel
      query={applies}
      label={t('rollout.recent')}
      rowKey={(row) => row.id}
      columns={columnsOf(t)}
      empty={<EmptyState title={t('rollout.none')} />}
    />
  );
}

function columnsOf(t: Translate): Column<FleetApply>[] {
  return [
    {
      key: 'template',
      header: t('rollout.kind'),
      render: (row) => (
        <TextLink to="/fleet-applies/$applyId" params={{ applyId: row.id }} isStrong>
          {subjectOf(t, row)}
        </TextLink>
      ),
    },
    { key: 'state', header: t('fleet.state'), render: (row) => <ApplyStateBadge apply={row} /> },
    { key: 'by', header: t('change.by'), render: (row) => row.created_by, isSecondary: true },
    { key: 'at', header: t('change.created'), render: (row) => <Moment at={row.created_at} relative /> },
  ];
}
