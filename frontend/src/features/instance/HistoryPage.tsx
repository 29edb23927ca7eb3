import { useInfiniteQuery } from '@tanstack/react-query';
import { useParams } from '@tanstack/react-router';
import { instanceChangesQuery, type ChangeSummary } from '@/api/changes';
import { ChangeStateBadge } from '@/components/ChangeStateBadge';
import { DataTable, type Column } from '@/components/DataTable';
import { EmptyState } from '@/components/EmptyState';
import { IconHistory } from '@/components/icons';
import { TextLink } from '@/components/links';
import { Moment } from '@/components/Moment';
import { MoreButton } from '@/components/MoreButton';
import { Panel } from '@/components/Panel';
import { QueryView } from '@/components/QueryView';
import { useT, type Translate } from '@/lib/i18n/context';
import { formatDuration } from '@/lib/number';
import classes from './instance.module.css';

export function HistoryPage() {
  const t = useT();
  const { instanceId } = useParams({ from: '/console/instances/$instanceId' });
  const changes = useInfiniteQuery(instanceChangesQuery(instanceId));
  return (
    <Panel title={t('history.title')} flush>
      <QueryView query={changes}>
        {(rows) => (
          <DataTable
            label={t('history.title')}
            rows={rows}
            rowKey={(row) => row.id}
            columns={columnsOf(t, instanceId)}
            empty={
              <EmptyState
                icon={<IconHistory size={20} />}
                title={t('history.empty')}
                hint={t('history.emptyHint')}
              />
            }
          />
        )}
      </QueryView>
      <MoreButton query={changes} />
    </Panel>
  );
}

function columnsOf(t: Translate, instanceId: string): Column<ChangeSummary>[] {
  return [
    {
      key: 'kind',
      header: t('history.change'),
      render: (row) => (
        <TextLink
          to="/instances/$instanceId/changes/$changeId"
          params={{ instanceId, changeId: row.id }}
          isStrong
        >
          {t(`change.kind.${row.kind}`)}
        </TextLink>
      ),
    },
    { key: 'what', header: t('history.what'), render: (row) => <Changed change={row} /> },
    { key: 'state', header: t('fleet.state'), render: (row) => <ChangeStateBadge change={row} /> },
    { key: 'by', header: t('change.by'), render: (row) => row.created_by, isSecondary: true },
    { key: 'at', header: t('change.created'), render: (row) => <Moment at={row.created_at} /> },
    {
      key: 'took',
      header: t('history.took'),
      align: 'right',
      render: (row) => formatDuration(secondsOf(row), t),
      isSecondary: true,
    },
    {
      key: 'note',
      header: t('change.note'),
      render: (row) => row.outcome_detail || row.note || '–',
      isSecondary: true,
    },
  ];
}

/** The parameters that a change set altered, in short: `long_query_time 10 → 2.5, +1` stands for two parameters. */
function Changed({ change }: { change: ChangeSummary }) {
  const t = useT();
  const [first] = change.changed;
  if (!first) return <>–</>;
  const more = change.changed_count - 1;
  const all = change.changed.map((line) => toldOf(line, t)).join(', ');
  return (
    <span className={classes.changed} title={more > 0 ? all : undefined}>
      <code>{toldOf(first, t)}</code>
      {more > 0 && `, +${more}`}
    </span>
  );
}

function toldOf({ name, old, new: becomes }: ChangeSummary['changed'][number], t: Translate): string {
  return `${name} ${old || '–'} → ${becomes === null ? t('change.default') : becomes || '–'}`;
}

function secondsOf({ started_at, finished_at }: ChangeSummary): number | null {
  return started_at && finished_at ? (Date.parse(finished_at) - Date.parse(started_at)) / 1000 : null;
}
