import { FindingList } from '@/components/FindingList';
import { Panel } from '@/components/Panel';
import { Statements } from '@/components/Statements';
import { StatusBadge } from '@/components/StatusBadge';
import { useFindingActionPage } from '@/components/useFindingAction';
import { useCan } from '@/api/session';
import { ErrorPanel } from '@/components/ErrorPanel';
import { useT } from '@/lib/i18n/context';
import type { NearPrerequisites } from './nearApi';
import classes from './near.module.css';

type Way = NearPrerequisites['ways'][number];

/** The modes in which a near cache can serve before this server, the best one first, each with how to start it. */
export function NearWays({ instanceId, ways }: { instanceId: string; ways: Way[] }) {
  return ways.map((way) => <NearWay key={way.mode} instanceId={instanceId} way={way} />);
}

function NearWay({ instanceId, way }: { instanceId: string; way: Way }) {
  const t = useT();
  const canChange = useCan('operator');
  const act = useFindingActionPage(instanceId);
  return (
    <Panel
      title={t(`near.way.${way.mode}`)}
      description={t(`near.modeHint.${way.mode}`)}
      actions={
        <StatusBadge tone={way.is_ready ? 'ok' : 'warn'}>
          {t(way.is_ready ? 'near.wayReady' : 'near.wayNotReady')}
        </StatusBadge>
      }
    >
      {act.error && <ErrorPanel error={act.error} />}
      <FindingList findings={way.findings} onAct={canChange ? act.run : undefined} isBusy={act.isPending} />
      {way.statements.length > 0 && (
        <>
          <h3 className={classes.where}>{t('near.onServer')}</h3>
          <Statements lines={way.statements} />
        </>
      )}
      {way.file_lines.length > 0 && (
        <>
          <h3 className={classes.where}>{t('near.inRules')}</h3>
          <Statements lines={way.file_lines} />
        </>
      )}
      <h3 className={classes.where}>{t('near.onHost')}</h3>
      <Statements lines={[way.command]} />
    </Panel>
  );
}
