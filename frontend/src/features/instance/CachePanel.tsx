import { Group } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import type { Finding } from '@/api/changes';
import { cacheStatusQuery, prerequisitesQuery, type CacheStatus, type Instance } from '@/api/instances';
import { useCan } from '@/api/session';
import { enableObstacle } from '@/components/enableObstacle';
import { FactList, type Fact } from '@/components/FactList';
import { IconBolt } from '@/components/icons';
import { ButtonLink } from '@/components/links';
import { Panel } from '@/components/Panel';
import { QueryView, SkeletonLines } from '@/components/QueryView';
import { EnglishText } from '@/components/EnglishText';
import { StatusBadge } from '@/components/StatusBadge';
import { formatBytes } from '@/lib/bytes';
import { useT, useApiText, type Translate } from '@/lib/i18n/context';
import { translateFacts } from '@/lib/i18n/apiTexts';
import { ABSENT } from '@/lib/number';

/** The number of lines of the skeleton. It is as high as the loaded content, so that the panels below do not move. */
const LINES = 4;

export function CachePanel({ instance }: { instance: Instance }) {
  const t = useT();
  const canChange = useCan('operator');
  const status = useQuery(cacheStatusQuery(instance.id));
  const check = useQuery(prerequisitesQuery(instance.id));
  const isEnabled = status.data?.is_enabled ?? false;
  const obstacle = isEnabled ? undefined : enableObstacle(check.data?.findings);
  const isKnown = status.data && (isEnabled || !check.isPending);
  return (
    <Panel
      title={t('cache.title')}
      actions={
        <Group gap="xs">
          {status.data && obstacle?.code !== 'no_engine_there' && (
            <StatusBadge tone={isEnabled ? 'ok' : 'neutral'}>
              {t(isEnabled ? 'cache.enabled' : 'cache.disabled')}
            </StatusBadge>
          )}
          {canChange && isKnown && !obstacle && (
            <ButtonLink
              to="/instances/$instanceId/cache"
              params={{ instanceId: instance.id }}
              variant={isEnabled ? 'default' : 'filled'}
              leftSection={<IconBolt size={14} />}
            >
              {t(isEnabled ? 'cache.open' : 'cache.enable')}
            </ButtonLink>
          )}
        </Group>
      }
    >
      {obstacle && <Obstacle finding={obstacle} />}
      {obstacle?.code === 'no_engine_there' ? (
        <ButtonLink
          mt="sm"
          to="/instances/$instanceId/near"
          params={{ instanceId: instance.id }}
          variant="default"
        >
          {t('cache.beside')}
        </ButtonLink>
      ) : (
        <QueryView query={status} skeleton={<SkeletonLines lines={LINES} />}>
          {(data) => <CacheFacts status={data} />}
        </QueryView>
      )}
    </Panel>
  );
}

/** Says why the cache cannot be enabled on this server. Shown instead of the button that enables it. */
function Obstacle({ finding: { code, seen, facts = {} } }: { finding: Finding }) {
  const t = useT();
  const apiText = useApiText();
  const reason = apiText(`finding.${code}`, '');
  const ownSeen = apiText(`seen.${code}`, seen, translateFacts(apiText, facts));
  return (
    <div role="note">
      {t('cache.cannotEnable', { reason: reason || seen })}
      {reason && (ownSeen === seen ? <EnglishText>{seen}</EnglishText> : <div>{ownSeen}</div>)}
    </div>
  );
}

/** The settings of the server's cache and the state of its engine. */
function CacheFacts({ status }: { status: CacheStatus }) {
  const t = useT();
  const size = (bytes: number | null) => (bytes === null ? ABSENT : formatBytes(bytes));
  return (
    <FactList
      facts={[
        { label: 'query_cache_type', value: status.type ?? ABSENT },
        { label: 'query_cache_size', value: size(status.size_bytes) },
        { label: 'query_cache_limit', value: size(status.limit_bytes) },
        ...engineFact(t, status),
      ]}
    />
  );
}

/**
 * Returns a list with one fact: whether the engine is at work, suspended, or in light mode. The list is empty for a
 * server without the engine.
 */
function engineFact(t: Translate, { counters }: CacheStatus): Fact[] {
  if (counters.Fqc_awake === undefined) return [];
  const idle = counters.Fqc_dozing === '1' ? 'dozing' : 'asleep';
  const state = counters.Fqc_awake === '1' ? 'awake' : idle;
  return [
    {
      label: t('cache.engine'),
      value: <span title={t(`cache.${state}Hint`)}>{t(`cache.${state}`)}</span>,
    },
  ];
}
