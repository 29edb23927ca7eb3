import { SimpleGrid, Stack } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { useParams } from '@tanstack/react-router';
import { changeQuery, type Change } from '@/api/changes';
import { ChangeLines } from '@/components/ChangeLines';
import { ChangeStateBadge } from '@/components/ChangeStateBadge';
import { CopyLink } from '@/components/CopyLink';
import { FactList, type Fact } from '@/components/FactList';
import { FindingList } from '@/components/FindingList';
import { Moment } from '@/components/Moment';
import { Panel } from '@/components/Panel';
import { QueryView } from '@/components/QueryView';
import { useT, type Translate } from '@/lib/i18n/context';
import { ChangeActions } from './ChangeActions';
import { ChangeOutcome } from './ChangeOutcome';
import { ChangeSteps } from './ChangeSteps';

/**
 * The page of one change set: what it alters, its steps, and the actions that it allows. It updates itself while the
 * change runs.
 */
export function ChangePage() {
  const { changeId } = useParams({ from: '/console/instances/$instanceId/changes/$changeId' });
  const change = useQuery(changeQuery(changeId));
  return <QueryView query={change}>{(data) => <ChangeView change={data} />}</QueryView>;
}

function ChangeView({ change }: { change: Change }) {
  const t = useT();
  return (
    <Stack gap="md">
      <Panel
        title={t('change.title', { kind: t(`change.kind.${change.kind}`), name: change.instance_name })}
        actions={
          <>
            <ChangeStateBadge change={change} />
            <ChangeActions change={change} />
          </>
        }
      >
        <ChangeOutcome change={change} />
        <FactList facts={factsOf(change, t)} />
      </Panel>
      <SimpleGrid cols={{ base: 1, md: 2 }} spacing="md">
        <Panel title={t('change.steps')}>
          <ChangeSteps change={change} />
        </Panel>
        <Stack gap="md">
          {change.lines.length > 0 && (
            <Panel title={t('change.lines')}>
              <ChangeLines lines={change.lines} />
            </Panel>
          )}
          {change.findings.length > 0 && (
            <Panel title={t('change.findings')}>
              <FindingList findings={change.findings} />
            </Panel>
          )}
        </Stack>
      </SimpleGrid>
    </Stack>
  );
}

function factsOf(change: Change, t: Translate) {
  const id = (
    <>
      <code>{change.id}</code> <CopyLink value={change.id} />
    </>
  );
  const facts: Fact[] = [
    { label: t('instance.id'), value: id },
    { label: t('change.by'), value: change.created_by },
    { label: t('change.created'), value: <Moment at={change.created_at} /> },
  ];
  if (change.approved_by) facts.push({ label: t('change.approvedBy'), value: change.approved_by });
  if (change.when !== 'now')
    facts.push({ label: t('change.runsAt'), value: <Moment at={change.not_before ?? change.at} /> });
  if (change.started_at) facts.push({ label: t('change.started'), value: <Moment at={change.started_at} /> });
  if (change.finished_at)
    facts.push({ label: t('change.finished'), value: <Moment at={change.finished_at} /> });
  if (change.note) facts.push({ label: t('change.note'), value: change.note });
  if (change.reverts) facts.push({ label: t('change.reverts'), value: change.reverts });
  return facts;
}
