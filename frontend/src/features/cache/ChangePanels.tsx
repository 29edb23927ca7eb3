import { useQuery } from '@tanstack/react-query';
import { cacheAdviceQuery, type CacheAdvice, type CacheStatus } from '@/api/instances';
import { useCan } from '@/api/session';
import { ErrorPanel } from '@/components/ErrorPanel';
import { FindingList } from '@/components/FindingList';
import { ButtonLink } from '@/components/links';
import { Panel } from '@/components/Panel';
import { QueryView } from '@/components/QueryView';
import { useFindingActionPage } from '@/components/useFindingAction';
import { useT } from '@/lib/i18n/context';
import { CacheRules } from './CacheRules';
import { CurvePanel } from './CurvePanel';
import classes from './cache.module.css';

/** What can be changed about the cache: findings with their fixes, the size, and the rules. */
export function ChangePanels({ instanceId, status }: { instanceId: string; status: CacheStatus }) {
  const advice = useQuery(cacheAdviceQuery(instanceId));
  return (
    <QueryView query={advice}>
      {(data) => (
        <>
          <AdvicePanel instanceId={instanceId} status={status} findings={data.findings} />
          <CurvePanel instanceId={instanceId} curve={data.curve} />
        </>
      )}
    </QueryView>
  );
}

interface AdvicePanelProps {
  instanceId: string;
  status: CacheStatus;
  findings: CacheAdvice['findings'];
}

function AdvicePanel({ instanceId, status, findings }: AdvicePanelProps) {
  const t = useT();
  const canChange = useCan('operator');
  const act = useFindingActionPage(instanceId);
  // The findings to show here. Conditions that are met are left out; the check of the prerequisites shows them.
  const open = findings.filter(({ severity }) => severity !== 'notice');
  return (
    <Panel
      title={t('cache.change')}
      actions={
        <ButtonLink
          variant="default"
          to="/instances/$instanceId/parameters"
          params={{ instanceId }}
          search={{ filter: 'cache' }}
        >
          {t('live.parameters')}
        </ButtonLink>
      }
    >
      {act.error && <ErrorPanel error={act.error} />}
      {open.length === 0 && <p className={classes.lead}>{t('queries.noFindings')}</p>}
      <FindingList findings={open} onAct={canChange ? act.run : undefined} isBusy={act.isPending} />
      <CacheRules instanceId={instanceId} status={status} />
    </Panel>
  );
}
