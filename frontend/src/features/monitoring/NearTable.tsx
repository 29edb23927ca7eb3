import type { NearCache } from '@/api/nearCaches';
import { DataTable, type Column } from '@/components/DataTable';
import { EmptyState } from '@/components/EmptyState';
import { Identifier } from '@/components/Identifier';
import { Moment } from '@/components/Moment';
import { StatusBadge } from '@/components/StatusBadge';
import { formatBytes } from '@/lib/bytes';
import { useT, useApiText, type TranslateApiText, type Translate } from '@/lib/i18n/context';
import { ABSENT, formatCompact, formatDuration, formatPercent, formatRate } from '@/lib/number';
import type { Tone } from '@/lib/tone';
import classes from './near.module.css';

const TONES: Record<NearCache['state'], Tone> = { serving: 'ok', waiting: 'warn', detached: 'danger' };

/** A table of the near caches (caches next to applications) of one server, as the newest poll found them. */
export function NearTable({ items }: { items: NearCache[] }) {
  const t = useT();
  const apiText = useApiText();
  return (
    <DataTable
      label={t('instance.room.near')}
      rows={items}
      rowKey={(near) => `${near.name} ${near.attachment}`}
      columns={columnsOf(t, apiText)}
      empty={<EmptyState title={t('near.none')} hint={t('near.noneHint')} />}
    />
  );
}

function columnsOf(t: Translate, apiText: TranslateApiText): Column<NearCache>[] {
  return [
    {
      key: 'name',
      header: t('near.name'),
      render: (near) => <Identifier name={near.name} />,
      sortValue: (near) => near.name,
    },
    {
      key: 'state',
      header: t('near.state'),
      render: (near) => (
        <>
          <StatusBadge tone={TONES[near.state]} title={t(`near.stateHint.${near.state}`)}>
            {t(`near.state.${near.state}`)}
          </StatusBadge>
          {/* Why this cache serves nothing. A cache that reports to the control plane says so in its own words. */}
          {near.obstacle && (
            <span className={classes.obstacle}>
              {apiText(`fact.obstacle.${near.obstacle}`, near.obstacle)}
            </span>
          )}
        </>
      ),
      sortValue: (near) => near.state,
    },
    {
      key: 'mode',
      header: t('near.mode'),
      render: ({ mode }) => <span title={t(`near.modeHint.${mode}`)}>{t(`near.mode.${mode}`)}</span>,
      sortValue: (near) => near.mode,
    },
    {
      key: 'source',
      header: t('near.source'),
      isSecondary: true,
      render: ({ source }) => (
        <span title={t(`near.sourceHint.${source}`)}>{t(`near.source.${source}`)}</span>
      ),
      sortValue: (near) => near.source,
    },
    { key: 'address', header: t('near.address'), isSecondary: true, render: (near) => near.address },
    {
      ...figure('hitRatio', t('near.hitRatio'), ratioOf),
      render: (near) => ratioText(near, t),
    },
    {
      ...figure('hitRate', t('near.hitRate'), (near) => near.hits_per_second),
      render: (near) => formatRate(near.hits_per_second),
    },
    {
      ...figure('missRate', t('near.missRate'), (near) => near.misses_per_second, true),
      render: (near) => formatRate(near.misses_per_second),
    },
    figure('entries', t('near.entries'), (near) => near.entries, true),
    {
      ...figure('bytes', t('instance.memory'), (near) => near.stored_bytes, true),
      render: (near) => formatBytes(near.stored_bytes),
    },
    {
      ...figure('lag', t('near.lag'), lagOf, true),
      render: (near) => lagText(near, t),
    },
    {
      ...figure('waited', t('near.waited'), (near) => near.writers_waited, true),
      render: (near) => waitedText(near, t),
    },
    {
      key: 'seen',
      header: t('near.seen'),
      isSecondary: true,
      render: (near) => <Moment at={near.seen_at} relative />,
      sortValue: (near) => near.seen_at,
    },
  ];
}

function figure(
  key: string,
  header: string,
  value: (near: NearCache) => number | null,
  isSecondary = false,
): Column<NearCache> {
  return {
    key,
    header,
    align: 'right',
    isSecondary,
    render: (near) => formatCompact(value(near)),
    sortValue: value,
  };
}

/**
 * The hit ratio of a near cache in percent; null if it had no reads. A cache that only observes and serves nothing has
 * the ratio that it would have had.
 */
function ratioOf({ hits, misses, observed_hits: observed }: NearCache): number | null {
  const answered = observed ?? hits;
  return answered + misses > 0 ? (100 * answered) / (answered + misses) : null;
}

function ratioText(near: NearCache, t: Translate) {
  const ratio = formatPercent(ratioOf(near));
  const { observed_hits: observed, observed_different: different, observed_saved_ms: saved } = near;
  if (observed === null) return ratio;
  const detail = t('near.observedHint', {
    hits: formatCompact(observed),
    different: formatCompact(different),
    saved: formatDuration((saved ?? 0) / 1000, t),
  });
  return <span title={detail}>{t('near.wouldBe', { ratio })}</span>;
}

/**
 * How far a near cache is behind its server, in milliseconds: by its acknowledgements if it is attached to the engine,
 * otherwise by its position in the binary log. Null if unknown, as for a cache that serves by rules alone.
 */
function lagOf({ source, lag_ms, staleness_ms }: NearCache): number | null {
  return source === 'attached' ? lag_ms : staleness_ms;
}

function lagText(near: NearCache, t: Translate): string {
  const lag = lagOf(near);
  return lag === null ? ABSENT : formatDuration(lag / 1000, t);
}

/**
 * How many writes waited for a near cache, and how long each did on average, such as `12 × 3.4 ms`. A dash if unknown.
 */
function waitedText({ writers_waited: count, writer_wait_ms: each }: NearCache, t: Translate): string {
  if (each === null) return ABSENT;
  return `${formatCompact(count)} × ${formatDuration(each / 1000, t)}`;
}
