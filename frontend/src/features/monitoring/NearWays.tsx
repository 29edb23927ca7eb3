import { SegmentedControl } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { nearCachesQuery } from '@/api/nearCaches';
import { FindingList } from '@/components/FindingList';
import { Panel } from '@/components/Panel';
import { Statements } from '@/components/Statements';
import { StatusBadge, ToneIcon } from '@/components/StatusBadge';
import { useFindingActionPage } from '@/components/useFindingAction';
import { useCan } from '@/api/session';
import { ErrorPanel } from '@/components/ErrorPanel';
import { useT } from '@/lib/i18n/context';
import type { NearPrerequisites } from './nearApi';
import classes from './near.module.css';

type Way = NearPrerequisites['ways'][number];

/**
 * The modes in which a near cache can serve for this server, the best one first, each with the steps that start one.
 */
export function NearWays({ instanceId, ways }: { instanceId: string; ways: Way[] }) {
  const { data } = useQuery(nearCachesQuery(instanceId));
  const serving = data?.items.filter(({ state }) => state === 'serving') ?? [];
  return ways.map((way) => (
    <NearWay
      key={way.mode}
      instanceId={instanceId}
      way={way}
      serving={serving.filter(({ mode }) => mode === way.mode).length}
    />
  ));
}

interface NearWayProps {
  instanceId: string;
  way: Way;
  /** How many near caches serve in this mode. It grows once a cache that was just started serves. */
  serving: number;
}

function NearWay({ instanceId, way, serving }: NearWayProps) {
  const t = useT();
  const canChange = useCan('operator');
  const act = useFindingActionPage(instanceId);
  return (
    <Panel
      title={t(`near.way.${way.mode}`)}
      description={t(`near.modeHint.${way.mode}`)}
      actions={
        serving > 0 ? (
          <StatusBadge tone="ok">{t('near.wayServing', { count: serving })}</StatusBadge>
        ) : (
          <StatusBadge tone={way.is_ready ? 'info' : 'warn'}>
            {t(way.is_ready ? 'near.wayReady' : 'near.wayNotReady')}
          </StatusBadge>
        )
      }
    >
      {act.error && <ErrorPanel error={act.error} />}
      <FindingList findings={way.findings} onAct={canChange ? act.run : undefined} isBusy={act.isPending} />
      <Steps way={way} serving={serving} />
    </Panel>
  );
}

/** The steps that lead to a near cache in this mode. The last one is marked as done once a near cache serves in it. */
function Steps({ way, serving }: Omit<NearWayProps, 'instanceId'>) {
  const t = useT();
  const steps = [
    ...(way.statements.length > 0
      ? [{ title: t('near.onServer'), content: <Statements lines={way.statements} /> }]
      : []),
    ...(way.file_lines.length > 0
      ? [{ title: t('near.inRules'), content: <Statements lines={way.file_lines} /> }]
      : []),
    { title: t('near.onHost'), content: <Starts way={way} /> },
    {
      title: t('near.arrives'),
      content: (
        <div role="status" className={classes.arrives}>
          <ToneIcon tone={serving > 0 ? 'ok' : 'neutral'} size={16} />{' '}
          {serving > 0
            ? t('near.wayServing', { count: serving })
            : t(way.mode === 'exact' ? 'near.waits' : 'near.waitsForReport')}
        </div>
      ),
    },
  ];
  return (
    <ol className={classes.steps}>
      {steps.map(({ title, content }) => (
        <li key={title}>
          <h3 className={classes.where}>{title}</h3>
          {content}
        </li>
      ))}
    </ol>
  );
}

const STARTS = ['command', 'service', 'docker'] as const;

/** The ways to start a near cache, as text to copy: a command, a service of the machine, or a container. */
function Starts({ way }: { way: Way }) {
  const t = useT();
  const [how, setHow] = useState<(typeof STARTS)[number]>('command');
  return (
    <>
      <SegmentedControl
        size="xs"
        mb={8}
        aria-label={t('near.onHost')}
        value={how}
        onChange={(next) => setHow(STARTS.find((each) => each === next) ?? 'command')}
        data={STARTS.map((value) => ({ value, label: t(`near.start.${value}`) }))}
      />
      {how === 'command' && <Statements lines={[way.command]} />}
      {how === 'docker' && <Statements lines={[way.docker_command]} />}
      {how === 'service' && (
        <>
          <Statements lines={way.config_lines} />
          <Statements lines={way.service_lines} />
        </>
      )}
    </>
  );
}
