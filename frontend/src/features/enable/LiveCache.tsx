import { Button, Group, Switch } from '@mantine/core';
import { useQuery, useQueryClient } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { useCallback, useState } from 'react';
import { cacheStatusQuery, type CacheStatus } from '@/api/instances';
import { useCan } from '@/api/session';
import { CALM_MS } from '@/api/useConnection';
import { useSamples } from '@/api/useSamples';
import { Sparkline } from '@/charts/Sparkline';
import { ConfirmModal } from '@/components/ConfirmModal';
import { ButtonLink } from '@/components/links';
import { NotCachedReasons } from '@/components/NotCachedReasons';
import { Panel } from '@/components/Panel';
import { StatTile, StatTiles } from '@/components/StatTile';
import { StatusBadge } from '@/components/StatusBadge';
import { formatBytes } from '@/lib/bytes';
import { useT } from '@/lib/i18n/context';
import { formatCompact, formatPercent, formatRate } from '@/lib/number';
import { useCacheDisable } from './api';
import { CacheRules } from './CacheRules';
import classes from './enable.module.css';
import { growth, KEPT_READINGS, withReading, type Reading } from './liveHits';

const FIRST_HITS_MS = 2_000;

export function LiveCache({ instanceId, status }: { instanceId: string; status: CacheStatus }) {
  const t = useT();
  const canChange = useCan('operator');
  const readings = useReadings(instanceId, status);
  const [isDisabling, setIsDisabling] = useState(false);
  const hits = growth(readings, 'hits');
  const inserts = growth(readings, 'inserts');
  const counter = (name: string) => Number(status.counters[name] ?? NaN);
  const total = counter('Qcache_hits');
  return (
    <Panel
      title={t('cache.title')}
      description={t('live.description')}
      actions={
        <Group gap="xs">
          <StatusBadge tone="ok">{t('cache.enabled')}</StatusBadge>
          <ButtonLink
            variant="default"
            to="/instances/$instanceId/parameters"
            params={{ instanceId }}
            search={{ filter: 'cache' }}
          >
            {t('live.parameters')}
          </ButtonLink>
          {canChange && (
            <Button variant="default" onClick={() => setIsDisabling(true)}>
              {t('live.disable')}
            </Button>
          )}
        </Group>
      }
    >
      {status.connections && status.connections.served < status.connections.all && (
        <p className={classes.notServed} role="status">
          <StatusBadge tone="warn">
            {t('live.connectionsOf', { served: status.connections.served, all: status.connections.all })}
          </StatusBadge>{' '}
          {t('live.reconnect')}
        </p>
      )}
      <StatTiles>
        <StatTile
          label={t('live.hits')}
          tone={total > 0 ? 'ok' : 'info'}
          value={formatCompact(total)}
          note={total > 0 ? undefined : t('live.waiting')}
        />
        <StatTile
          label={t('live.hitRate')}
          value={formatRate(hits.at(-1))}
          note={<Sparkline values={hits} label={t('live.hitRate')} isWide height={16} />}
        />
        <StatTile
          label={t('live.insertRate')}
          value={formatRate(inserts.at(-1))}
          note={<Sparkline values={inserts} label={t('live.insertRate')} isWide height={16} color={2} />}
        />
        <StatTile
          label={t('cache.ratioSinceStart')}
          formula="hits / (hits + inserts + not_cached)"
          value={formatPercent(status.hit_ratio === null ? null : status.hit_ratio * 100)}
        />
        <StatTile
          label={t('live.entries')}
          formula="Qcache_queries_in_cache"
          value={formatCompact(counter('Qcache_queries_in_cache'))}
        />
        <StatTile
          label={t('live.memory')}
          value={status.size_bytes === null ? '–' : formatBytes(status.size_bytes)}
          note={t('live.free', { size: formatBytes(counter('Qcache_free_memory') || 0) })}
        />
        {status.connections && (
          <StatTile
            label={t('live.connections')}
            formula={`Fqc_connections_served: ${t('live.connectionsHint')}`}
            value={t('live.ofAll', { served: status.connections.served, all: status.connections.all })}
          />
        )}
        <StatTile
          label={t('live.prunes')}
          formula="Qcache_lowmem_prunes"
          value={formatCompact(counter('Qcache_lowmem_prunes'))}
        />
        {status.counters.Fqc_invalidations_avoided !== undefined && (
          <StatTile
            label={t('live.avoided')}
            formula={`Fqc_invalidations_avoided: ${t('cache.avoidedHint')}`}
            value={formatCompact(counter('Fqc_invalidations_avoided'))}
          />
        )}
      </StatTiles>
      <CacheRules instanceId={instanceId} status={status} />
      <NotCachedReasons status={status} />
      {isDisabling && <DisableCache instanceId={instanceId} onClose={() => setIsDisabling(false)} />}
    </Panel>
  );
}

/**
 * What the server said during this visit, newest last. It is asked every few seconds while somebody waits for the first
 * hits, and then when a round of polls is told: a page that is left open asks for nothing else.
 */
function useReadings(instanceId: string, status: CacheStatus): Reading[] {
  const client = useQueryClient();
  const [readings, setReadings] = useState<Reading[]>([]);
  const askAgain = useCallback(
    () => void client.invalidateQueries({ queryKey: cacheStatusQuery(instanceId).queryKey }),
    [client, instanceId],
  );
  const isHeard = useSamples([instanceId], askAgain);
  const isSettled = isHeard && readings.length >= KEPT_READINGS;
  const { dataUpdatedAt } = useQuery(cacheStatusQuery(instanceId, isSettled ? CALM_MS : FIRST_HITS_MS));
  const next = {
    at: dataUpdatedAt,
    hits: Number(status.counters.Qcache_hits ?? 0),
    inserts: Number(status.counters.Qcache_inserts ?? 0),
  };
  const updated = withReading(readings, next);
  if (updated !== readings) setReadings(updated);
  return updated;
}

function DisableCache({ instanceId, onClose }: { instanceId: string; onClose: () => void }) {
  const t = useT();
  const navigate = useNavigate({ from: '/instances/$instanceId/cache' });
  const disable = useCacheDisable(instanceId, (change) => {
    onClose();
    void navigate({ search: { change: change.id } });
  });
  const [isPoolRestored, setIsPoolRestored] = useState(true);
  return (
    <ConfirmModal
      title={t('live.disableAsk')}
      confirm={t('live.disable')}
      error={disable.error}
      isBusy={disable.isPending}
      onConfirm={() => disable.mutate(isPoolRestored)}
      onClose={onClose}
    >
      <p style={{ marginTop: 0 }}>{t('live.disableHint')}</p>
      <Switch
        label={t('live.restorePool')}
        checked={isPoolRestored}
        onChange={(event) => setIsPoolRestored(event.currentTarget.checked)}
      />
    </ConfirmModal>
  );
}
