// One statement: what the cache does for it, the tables it reads, and what can be done about it.
import { Drawer, Group, Stack } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { cacheStatusQuery } from '@/api/instances';
import { useCan } from '@/api/session';
import { CopyLink } from '@/components/CopyLink';
import { FactList } from '@/components/FactList';
import { ButtonLink } from '@/components/links';
import { Moment } from '@/components/Moment';
import { Statements } from '@/components/Statements';
import { useT, useApiText } from '@/lib/i18n/context';
import { formatCompact, formatDuration, formatPercent } from '@/lib/number';
import { cacheTablesQuery } from './queriesApi';
import {
  factsOf,
  readableColumn,
  readableFigure,
  reasonsOf,
  schemaOf,
  tablesOf,
  type QueryRow,
} from './queryRows';
import { StatementHours } from './StatementHours';
import { StatementExample } from './StatementExample';
import classes from './queries.module.css';

const OUTDATED_SECONDS = 10;

interface StatementDrawerProps {
  instanceId: string;
  row: QueryRow | undefined;
  /** The start of the span of the figures, in ISO format. Null means since the server started to count. */
  since: string | null;
  onClose: () => void;
}

export function StatementDrawer({ instanceId, row, since, onClose }: StatementDrawerProps) {
  const t = useT();
  return (
    <Drawer opened={row !== undefined} onClose={onClose} size={560} title={t('statement.title')}>
      {row && (
        <Stack gap="md">
          <div>
            <Statements lines={[row.Query ?? '']} />
            <p className={classes.hint}>{t('statement.literals')}</p>
          </div>
          <StatementExample key={row.Digest} instanceId={instanceId} row={row} />
          <Figures row={row} since={since} />
          <StatementHours instanceId={instanceId} digest={row.Digest ?? ''} />
          <Reasons instanceId={instanceId} row={row} />
          <Tables instanceId={instanceId} row={row} />
          <Actions instanceId={instanceId} row={row} />
        </Stack>
      )}
    </Drawer>
  );
}

function Figures({ row, since }: { row: QueryRow; since: string | null }) {
  const t = useT();
  const apiText = useApiText();
  const { digest, executions, hits, ratio, savedSeconds, stored, outdated, stale, ...would } = factsOf(row);
  return (
    <FactList
      facts={[
        {
          label: t('statement.digest'),
          value: (
            <>
              <code className={classes.digest}>{digest}</code> <CopyLink value={digest} />
            </>
          ),
        },
        { label: t('statement.since'), value: since ? <Moment at={since} /> : t('statement.sinceStart') },
        { label: t('statement.executions'), value: formatCompact(executions) },
        {
          label: t('statement.hits'),
          value: `${formatCompact(hits)} (${formatPercent(ratio === null ? null : ratio * 100)})`,
        },
        { label: t('statement.saved'), value: formatDuration(savedSeconds, t) },
        {
          label: t('statement.onServer'),
          value: formatDuration(hits > 0 ? savedSeconds / hits : null, t),
        },
        { label: t('statement.stored'), value: formatCompact(stored) },
        { label: t('statement.outdated'), value: formatCompact(outdated) },
        { label: t('statement.stale'), value: formatCompact(stale) },
        ...['Bytes_saved', 'Bytes_stored']
          .filter((name) => row[name])
          .map((name) => ({
            label: apiText(`column.${name}`, readableColumn(name)),
            value: readableFigure(name, row[name] ?? '', t),
          })),
        ...(would.observed > 0
          ? [
              {
                label: t('statement.wouldHit'),
                value: t('statement.wouldHitOf', {
                  hits: formatCompact(would.wouldHit),
                  count: formatCompact(would.observed),
                  ratio: formatPercent((would.wouldHit / would.observed) * 100),
                }),
              },
              { label: t('statement.wouldSave'), value: formatDuration(would.wouldSaveSeconds, t) },
            ]
          : []),
      ]}
    />
  );
}

function Reasons({ instanceId, row }: { instanceId: string; row: QueryRow }) {
  const t = useT();
  const { data: status } = useQuery(cacheStatusQuery(instanceId));
  const apiText = useApiText();
  const reasons = reasonsOf(row);
  const { stored, observed } = factsOf(row);
  const meaningOf = (name: string) => status?.reasons.find(({ Reason }) => Reason === name)?.Meaning;
  return (
    <section aria-label={t('statement.why')}>
      <h3 className={classes.part}>{t('statement.why')}</h3>
      {reasons.length === 0 ? (
        <p className={classes.hint}>
          {t(observed > 0 && stored === 0 ? 'statement.alwaysCould' : 'statement.always')}
        </p>
      ) : (
        <ul className={classes.list}>
          {reasons.map(({ name, count }) => (
            <li key={name}>
              {formatCompact(count)} × <code>{name}</code>
              <span className={classes.hint}>{apiText(`reason.${name}`, meaningOf(name) ?? '')}</span>
            </li>
          ))}
        </ul>
      )}
    </section>
  );
}

/** The tables that a statement reads, each with its number of writes, since writes invalidate cached results. */
function Tables({ instanceId, row }: { instanceId: string; row: QueryRow }) {
  const t = useT();
  const { data } = useQuery(cacheTablesQuery(instanceId));
  const names = tablesOf(row);
  const usesOf = (name: string) => data?.items.find((item) => `${item.schema}.${item.table}` === name);
  return (
    <section aria-label={t('statement.tables')}>
      <h3 className={classes.part}>{t('statement.tables')}</h3>
      {names.length === 0 && <p className={classes.hint}>{t('statement.noTables')}</p>}
      <ul className={classes.list}>
        {names.map((name) => {
          const uses = usesOf(name);
          return (
            <li key={name}>
              <code>{name}</code>
              {uses && (
                <span className={classes.hint}>
                  {t('statement.tableUse', {
                    writes: formatCompact(uses.writes),
                    cached: formatCompact(uses.reads_cached),
                    server: formatCompact(uses.reads_server),
                  })}
                </span>
              )}
            </li>
          );
        })}
      </ul>
    </section>
  );
}

function Actions({ instanceId, row }: { instanceId: string; row: QueryRow }) {
  const t = useT();
  const canChange = useCan('operator');
  const { digest } = factsOf(row);
  const params = { instanceId };
  return (
    <Group gap="xs">
      <ButtonLink
        variant="default"
        to="/instances/$instanceId/cache"
        params={params}
        search={{ try: row.Query ?? '', db: schemaOf(row) }}
      >
        {t('statement.try')}
      </ButtonLink>
      {canChange && (
        <>
          <ButtonLink
            variant="default"
            to="/instances/$instanceId/rules"
            params={params}
            search={{ digest, cache: 'never' }}
          >
            {t('statement.never')}
          </ButtonLink>
          <ButtonLink
            variant="default"
            to="/instances/$instanceId/rules"
            params={params}
            search={{ digest, cache: 'always', ttl: OUTDATED_SECONDS }}
          >
            {t('statement.serveOutdated')}
          </ButtonLink>
        </>
      )}
    </Group>
  );
}
