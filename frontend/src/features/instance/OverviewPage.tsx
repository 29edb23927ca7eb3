import { SimpleGrid, Stack } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { useParams } from '@tanstack/react-router';
import { instanceQuery, type Instance } from '@/api/instances';
import { CopyLink } from '@/components/CopyLink';
import { FactList } from '@/components/FactList';
import { Moment } from '@/components/Moment';
import { Panel } from '@/components/Panel';
import { windowText } from '@/components/WindowOpening';
import { useT, type Translate } from '@/lib/i18n/context';
import { writeTags } from '@/lib/tags';
import { AttentionPanel } from './AttentionPanel';
import { CachePanel } from './CachePanel';
import { ClassFacts } from './ClassFacts';
import { GlanceTiles } from './GlanceTiles';
import { PrerequisitesPanel } from './PrerequisitesPanel';

export function OverviewPage() {
  const t = useT();
  const { instanceId } = useParams({ from: '/console/instances/$instanceId' });
  const { data: instance } = useQuery(instanceQuery(instanceId));
  if (!instance) return null;
  return (
    <Stack gap="md">
      <GlanceTiles instanceId={instanceId} />
      <AttentionPanel instance={instance} />
      <SimpleGrid cols={{ base: 1, md: 2 }} spacing="md">
        <CachePanel instance={instance} />
        <PrerequisitesPanel instanceId={instanceId} />
      </SimpleGrid>
      <Panel title={t('instance.facts')}>
        <FactList facts={factsOf(instance, t)} />
      </Panel>
      <ClassFacts name={instance.instance_class} />
    </Stack>
  );
}

function Copied({ text }: { text: string }) {
  return (
    <>
      <code>{text}</code> <CopyLink value={text} />
    </>
  );
}

function serverText({ product, engine_version: version, edition }: Instance) {
  return [product, version, edition && `(${edition})`].filter(Boolean).join(' ');
}

/**
 * Version and date of the engine, such as `FQC 1.0.0 (2026-11-20)`; its minor version number is that date. Undefined if
 * the engine is not known.
 */
function engineName({ fqc_version: version, minor_version: number }: Instance) {
  const day = number?.toString().replace(/^(\d+)(\d\d)(\d\d)$/, '($1-$2-$3)');
  return day && ['FQC', version, day].filter(Boolean).join(' ');
}

/** The engine's version, or that there is none. A dash before the first poll, when neither is known. */
function engineText(instance: Instance, t: Translate): string {
  return engineName(instance) || (instance.last_seen_at ? t('fleet.cache.no_engine') : '–');
}

function factsOf(instance: Instance, t: Translate) {
  return [
    { label: t('instance.id'), value: <Copied text={instance.id} /> },
    {
      label: t('instance.endpoint'),
      value: <Copied text={`${instance.endpoint.host}:${instance.endpoint.port}`} />,
    },
    { label: t('instance.account'), value: instance.endpoint.username || '–' },
    { label: t('instance.provider'), value: t(`instance.provider.${instance.provider}`) },
    { label: t('instance.server'), value: serverText(instance) || '–' },
    { label: t('instance.engine'), value: engineText(instance, t) },
    // Only the workflow of the managed service sets this; elsewhere the row is left out.
    ...(instance.proxy_enabled ? [{ label: t('instance.proxy'), value: t('state.on') }] : []),
    { label: t('instance.maintenance'), value: windowText(instance.maintenance_window, t) },
    { label: t('instance.tags'), value: writeTags(instance.tags) || '–' },
    { label: t('instance.startedAt'), value: <Moment at={instance.server_started_at} relative /> },
    { label: t('instance.seenAt'), value: <Moment at={instance.last_seen_at} relative /> },
  ];
}
