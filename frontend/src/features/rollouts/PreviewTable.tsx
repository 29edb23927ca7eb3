import { DataTable, type Column } from '@/components/DataTable';
import { EmptyState } from '@/components/EmptyState';
import { InstanceLink } from '@/components/InstanceLink';
import { StatusBadge } from '@/components/StatusBadge';
import { useT, type Translate } from '@/lib/i18n/context';
import type { FleetPreviewItem } from './api';
import { MOST_UNFOLDED, LinesCell } from './LinesCell';
import { tallyOf } from './target';
import classes from './rollouts.module.css';

/** The instances of a fleet apply before it starts, each with its changes, or with the reasons why it is blocked. */
export function PreviewTable({ items }: { items: FleetPreviewItem[] }) {
  const t = useT();
  return (
    <>
      <div className={classes.tally}>{t('rollout.tally', tallyOf(items))}</div>
      <DataTable
        label={t('rollout.previewOf')}
        rows={items}
        rowKey={(row) => row.instance}
        columns={columnsOf(t, items.length <= MOST_UNFOLDED)}
        maxHeight="420px"
        empty={<EmptyState title={t('fleet.noMatch')} />}
      />
    </>
  );
}

function columnsOf(t: Translate, isOpen: boolean): Column<FleetPreviewItem>[] {
  return [
    {
      key: 'name',
      header: t('fleet.name'),
      sortValue: (row) => row.instance_name,
      render: (row) => <InstanceLink id={row.instance} name={row.instance_name} />,
    },
    { key: 'state', header: t('fleet.state'), render: (row) => <ItemVerdict item={row} t={t} /> },
    {
      key: 'lines',
      header: t('audit.change'),
      render: (row) => (
        <LinesCell lines={row.lines} blocking={row.blocking} findings={row.findings} isOpen={isOpen} />
      ),
    },
  ];
}

function ItemVerdict({ item, t }: { item: FleetPreviewItem; t: Translate }) {
  if (item.blocking.length > 0) return <StatusBadge tone="danger">{t('rollout.item.blocked')}</StatusBadge>;
  if (item.lines.length === 0) return <StatusBadge tone="ok">{t('rollout.item.unchanged')}</StatusBadge>;
  if (item.needs_restart) return <StatusBadge tone="warn">{t('change.needsRestart')}</StatusBadge>;
  return <StatusBadge tone="info">{t('rollout.differs', { count: item.lines.length })}</StatusBadge>;
}
