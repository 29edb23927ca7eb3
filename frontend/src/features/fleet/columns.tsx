import type { Column } from '@/components/DataTable';
import { InstanceState } from '@/components/InstanceState';
import { TextLink } from '@/components/links';
import { Moment } from '@/components/Moment';
import { StatusBadge } from '@/components/StatusBadge';
import { formatBytes } from '@/lib/bytes';
import type { Translate } from '@/lib/i18n/context';
import type { Instance } from './api';
import { RowIncidents } from './RowIncidents';
import { RowHitRatio, RowHits } from './RowSpark';
import classes from './fleet.module.css';

/** The number of open incidents by instance id. */
export type IncidentCounts = Record<string, number>;

/**
 * The columns of the fleet table. `isComplete` is true if all rows are loaded; only then can the table be sorted, since
 * a sorted part of a list would mislead.
 */
export function fleetColumns(
  t: Translate,
  isComplete: boolean,
  incidents: IncidentCounts,
): Column<Instance>[] {
  const sortable = (value: (row: Instance) => string | number | null) => (isComplete ? value : undefined);
  return [
    {
      key: 'name',
      header: t('fleet.name'),
      sortValue: sortable((row) => row.name),
      render: (row) => <NameCell row={row} incidentCount={incidents[row.id] ?? 0} t={t} />,
    },
    {
      key: 'state',
      header: t('fleet.state'),
      sortValue: sortable((row) => row.state),
      render: (row) => <InstanceState state={row.state} reason={row.state_reason} />,
      width: 130,
    },
    {
      key: 'hitRatio',
      header: t('fleet.hitRatioColumn'),
      render: (row) => <RowHitRatio id={row.id} name={row.name} />,
    },
    {
      key: 'hits',
      header: t('fleet.hitsColumn'),
      align: 'right',
      render: (row) => <RowHits id={row.id} />,
      isSecondary: true,
    },
    {
      key: 'cache',
      header: t('fleet.cache'),
      sortValue: sortable((row) => row.cache.state),
      render: (row) => <CacheCell cache={row.cache} t={t} />,
      isSecondary: true,
    },
    {
      key: 'attention',
      header: t('fleet.attention'),
      render: (row) => <Attention row={row} incidentCount={incidents[row.id] ?? 0} t={t} />,
      isSecondary: true,
    },
    {
      key: 'class',
      header: t('fleet.class'),
      sortValue: sortable((row) => row.instance_class),
      render: (row) => row.instance_class,
      isSecondary: true,
    },
    {
      key: 'version',
      header: t('fleet.version'),
      sortValue: sortable((row) => `${row.product} ${row.engine_version}`),
      render: (row) => <ServerCell row={row} />,
      isSecondary: true,
    },
    {
      key: 'seen',
      header: t('fleet.seen'),
      render: (row) => <Moment at={row.last_seen_at} relative />,
      isSecondary: true,
    },
  ];
}

/** Product and version number of a server. The full version, which also names the package, is the tooltip. */
function ServerCell({ row }: { row: Instance }) {
  const [number] = row.engine_version.split('-');
  return number ? (
    <span title={row.engine_version}>{`${row.product} ${number}`}</span>
  ) : (
    <span className={classes.absent}>–</span>
  );
}

function CacheCell({ cache, t }: { cache: Instance['cache']; t: Translate }) {
  const isOn = cache.state === 'on' || cache.state === 'on_demand';
  return (
    <>
      {t(`fleet.cache.${cache.state}`)}
      {isOn && cache.size_bytes !== null && (
        <span className={classes.host}>
          {t('fleet.cacheUsed', {
            used: formatBytes(cache.used_bytes ?? 0),
            size: formatBytes(cache.size_bytes),
          })}
        </span>
      )}
    </>
  );
}

interface AttentionProps {
  row: Instance;
  incidentCount: number;
  t: Translate;
}

/**
 * The instance's name, linked to its page, above its host. On a phone, which has no room for an attention column, what
 * needs attention is shown instead of the host.
 */
function NameCell({ row, incidentCount, t }: AttentionProps) {
  return (
    <>
      <TextLink to="/instances/$instanceId" params={{ instanceId: row.id }} isStrong>
        {row.name}
      </TextLink>
      <span className={classes.narrow}>
        <Attention row={row} incidentCount={incidentCount} t={t} />
      </span>
      <span className={classes.host}>
        {row.endpoint.host}:{row.endpoint.port}
      </span>
    </>
  );
}

function Attention({ row, incidentCount, t }: AttentionProps) {
  return (
    <span className={classes.badges}>
      <RowIncidents id={row.id} count={incidentCount} />
      {row.drifted_count > 0 && (
        <StatusBadge tone="warn">{t('fleet.attention.drifted', { count: row.drifted_count })}</StatusBadge>
      )}
      {row.pending_restart_count > 0 && (
        <StatusBadge tone="warn">
          {t('fleet.attention.pending', { count: row.pending_restart_count })}
        </StatusBadge>
      )}
      {row.proxy_enabled && <StatusBadge tone="info">{t('fleet.attention.proxy')}</StatusBadge>}
    </span>
  );
}
