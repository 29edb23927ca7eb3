import { Button, Progress } from '@mantine/core';
import { useInfiniteQuery, useQuery, useQueryClient } from '@tanstack/react-query';
import { useNavigate, useParams } from '@tanstack/react-router';
import { useEffect, useState } from 'react';
import { useCan } from '@/api/session';
import { formatValue } from '@/charts/units';
import { DataTable, type Column } from '@/components/DataTable';
import { ConfirmModal } from '@/components/ConfirmModal';
import { ErrorPanel } from '@/components/ErrorPanel';
import { TextLink } from '@/components/links';
import { Moment } from '@/components/Moment';
import { MoreButton } from '@/components/MoreButton';
import { PageHeader } from '@/components/PageHeader';
import { Panel } from '@/components/Panel';
import { QueryPage } from '@/components/QueryPage';
import { QueryView } from '@/components/QueryView';
import { useT, useApiText, type Translate } from '@/lib/i18n/context';
import type { TranslateApiText } from '@/lib/i18n/apiTexts';
import {
  fleetApplyItemsQuery,
  fleetApplyQuery,
  useFleetApplyRollback,
  useFleetApplySteer,
  type FleetApply,
  type FleetApplyItem,
  type Steering,
} from './api';
import { ApplyStateBadge, ItemStateBadge } from './ApplyStateBadge';
import { subjectOf } from './subject';
import { MOST_UNFOLDED, LinesCell } from './LinesCell';
import classes from './rollouts.module.css';

const STEERINGS: Partial<Record<FleetApply['state'], Steering[]>> = {
  previewed: ['start', 'abort'],
  running: ['pause', 'abort'],
  paused: ['resume', 'abort'],
};

/**
 * The page of a fleet apply, which brings one template or a new engine to many instances: its progress, and what became
 * of each instance.
 */
export function FleetApplyPage() {
  const t = useT();
  const { applyId } = useParams({ from: '/console/fleet-applies/$applyId' });
  const apply = useQuery(fleetApplyQuery(applyId));
  const back = <TextLink to="/templates/apply">{t('rollout.title')}</TextLink>;
  return (
    <QueryPage query={apply} eyebrow={back} title={applyId}>
      {(data) => <FleetApplyView apply={data} />}
    </QueryPage>
  );
}

function FleetApplyView({ apply }: { apply: FleetApply }) {
  const t = useT();
  const canChange = useCan('operator');
  const canStart = useCan(apply.needs_admin ? 'admin' : 'operator');
  const steer = useFleetApplySteer(apply.id);
  const isOver = !(apply.state in STEERINGS);
  return (
    <>
      <PageHeader
        eyebrow={<TextLink to="/templates/apply">{t('rollout.title')}</TextLink>}
        title={subjectOf(t, apply)}
        status={<ApplyStateBadge apply={apply} />}
        description={
          <>
            {apply.reverts && (
              <>
                {t('rollout.restores')}{' '}
                <TextLink to="/fleet-applies/$applyId" params={{ applyId: apply.reverts }}>
                  {apply.reverts}
                </TextLink>
                {' · '}
              </>
            )}
            {t('rollout.terms', {
              who: apply.created_by,
              parallelism: apply.parallelism,
              failures: apply.max_failures,
            })}
            <Moment at={apply.created_at} />
            {apply.kind === 'upgrade' && ` · ${t('rollout.watchedFor', { seconds: apply.settle_seconds })}`}
            {apply.max_p95_percent && ` · ${t('rollout.p95Allowed', { percent: apply.max_p95_percent })}`}
            {apply.when === 'window' && ` · ${t('timing.window')}`}
            {apply.when === 'at' && (
              <>
                {` · ${t('change.runsAt')} `}
                <Moment at={apply.at} />
              </>
            )}
          </>
        }
        actions={
          canChange &&
          (isOver ? (
            <RollBackAll apply={apply} isAllowed={canStart} />
          ) : (
            (STEERINGS[apply.state] ?? [])
              .filter((steering) => canStart || steering === 'pause' || steering === 'abort')
              .map((steering) => (
                <Button
                  key={steering}
                  variant={steering === 'abort' ? 'default' : 'filled'}
                  loading={steer.isPending && steer.variables === steering}
                  disabled={steering === 'start' && !apply.counts.pending}
                  onClick={() => steer.mutate(steering)}
                >
                  {t(`rollout.${steering}Now`)}
                </Button>
              ))
          ))
        }
      />
      {steer.isError && <ErrorPanel error={steer.error} />}
      <Panel flush>
        <ProgressBar apply={apply} />
        <Items apply={apply} />
      </Panel>
    </>
  );
}

/**
 * The button that starts a new fleet apply, which restores the values from before this one, after a confirmation.
 * Renders nothing if there is nothing to restore: no instance was changed, or this one was an upgrade or itself a
 * rollback.
 */
function RollBackAll({ apply, isAllowed }: { apply: FleetApply; isAllowed: boolean }) {
  const t = useT();
  const navigate = useNavigate();
  const [isAsking, setIsAsking] = useState(false);
  const rollback = useFleetApplyRollback(apply.id, ({ id }) => {
    setIsAsking(false);
    void navigate({ to: '/fleet-applies/$applyId', params: { applyId: id } });
  });
  const count = apply.counts.applied ?? 0;
  if (count === 0 || apply.reverts || apply.kind === 'upgrade' || !isAllowed) return null;
  return (
    <>
      <Button variant="default" onClick={() => setIsAsking(true)}>
        {t('rollout.rollback')}
      </Button>
      {isAsking && (
        <ConfirmModal
          title={t('rollout.rollbackAsk', { count })}
          confirm={t('rollout.rollback')}
          error={rollback.error}
          isBusy={rollback.isPending}
          onConfirm={() => rollback.mutate(undefined)}
          onClose={() => setIsAsking(false)}
        >
          {t('rollout.rollbackHint')}
        </ConfirmModal>
      )}
    </>
  );
}

const SECTIONS = [
  ['applied', 'var(--fqc-series-3)'],
  ['unchanged', 'var(--fqc-series-1)'],
  ['running', 'var(--fqc-series-4)'],
  ['failed', 'var(--fqc-series-5)'],
  ['blocked', 'var(--fqc-series-2)'],
  ['skipped', 'var(--fqc-series-6)'],
] as const;

function ProgressBar({ apply }: { apply: FleetApply }) {
  const t = useT();
  const counts = apply.counts as Record<string, number>;
  const total = Object.values(counts).reduce((sum, count) => sum + count, 0);
  const shown = SECTIONS.filter(([state]) => (counts[state] ?? 0) > 0);
  return (
    <div className={classes.progress}>
      <Progress.Root size="lg">
        {shown.map(([state, color]) => (
          <Progress.Section
            key={state}
            value={((counts[state] ?? 0) / total) * 100}
            color={color}
            aria-label={t(`rollout.item.${state}`)}
          />
        ))}
      </Progress.Root>
      <div role="status">
        <ul className={classes.counts}>
          {Object.entries(counts)
            .filter(([, count]) => count > 0)
            .map(([state, count]) => (
              <li key={state}>
                <ItemStateBadge state={state as FleetApplyItem['state']} /> {count}
              </li>
            ))}
        </ul>
      </div>
    </div>
  );
}

function Items({ apply }: { apply: FleetApply }) {
  const t = useT();
  const apiText = useApiText();
  const client = useQueryClient();
  const items = useInfiniteQuery(fleetApplyItemsQuery(apply.id));
  const progress = JSON.stringify(apply.counts);
  useEffect(() => {
    void client.invalidateQueries({ queryKey: ['fleet-apply', 'items', apply.id] });
  }, [client, apply.id, progress]);
  return (
    <>
      <QueryView query={items}>
        {(rows) => (
          <DataTable
            label={t('rollout.items')}
            rows={rows}
            rowKey={(row) => String(row.id)}
            columns={columnsOf(t, apiText, rows.length <= MOST_UNFOLDED, apply)}
          />
        )}
      </QueryView>
      <MoreButton query={items} />
    </>
  );
}

/** The 95th percentile of the times of an instance's statements, before an upgrade and since, as text. */
function p95Of(t: Translate, { p95_before_ms: before, p95_after_ms: after }: FleetApplyItem): string {
  if (before === null || after === null) return t('rollout.p95Unknown');
  const apiText = (value: number) => formatValue(value, 'milliseconds', t);
  return t('rollout.p95', { before: apiText(before), after: apiText(after) });
}

function columnsOf(
  t: Translate,
  apiText: TranslateApiText,
  isOpen: boolean,
  apply: FleetApply,
): Column<FleetApplyItem>[] {
  return [
    {
      key: 'name',
      header: t('fleet.name'),
      render: (row) =>
        row.instance && row.change ? (
          <TextLink
            to="/instances/$instanceId/changes/$changeId"
            params={{ instanceId: row.instance, changeId: row.change }}
            style={{ whiteSpace: 'nowrap' }}
          >
            {row.instance_name}
          </TextLink>
        ) : (
          <span style={{ whiteSpace: 'nowrap' }}>{row.instance_name}</span>
        ),
    },
    {
      key: 'state',
      header: t('fleet.state'),
      render: (row) => (
        <>
          <ItemStateBadge state={row.state} />
          {apply.kind === 'upgrade' && row.state === 'applied' && (
            <div className={classes.gate}>{t(row.passed_at ? 'rollout.passed' : 'rollout.watched')}</div>
          )}
          {apply.max_p95_percent && row.passed_at && <div className={classes.gate}>{p95Of(t, row)}</div>}
        </>
      ),
    },
    {
      key: 'detail',
      header: t('audit.change'),
      render: (row) => (
        <LinesCell
          lines={row.lines}
          blocking={row.detail ? [apiText(`skipped.${row.detail}`, row.detail)] : []}
          isOpen={isOpen}
        />
      ),
    },
  ];
}
