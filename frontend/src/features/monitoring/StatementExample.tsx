// A recorded execution of a statement, for users who may see literals, and how long the statement takes with and
// without the cache.
import { Button, Group, Stack } from '@mantine/core';
import { useCan } from '@/api/session';
import { useTrial } from '@/api/trial';
import { ErrorPanel } from '@/components/ErrorPanel';
import { FactList } from '@/components/FactList';
import { Statements } from '@/components/Statements';
import { useT, useApiText } from '@/lib/i18n/context';
import { formatDuration } from '@/lib/number';
import { useExample } from './queriesApi';
import { factsOf, hasLiterals, type QueryRow } from './queryRows';
import classes from './queries.module.css';

const REPETITIONS = 20;

export function StatementExample({ instanceId, row }: { instanceId: string; row: QueryRow }) {
  const t = useT();
  const apiText = useApiText();
  const maySee = useCan('operator');
  const example = useExample(instanceId);
  const text = row.Query ?? '';
  if (!maySee) return <p className={classes.hint}>{t('statement.literalsHidden')}</p>;
  if (!hasLiterals(text)) return <Latency instanceId={instanceId} statement={text} database="" />;
  if (example.data?.statement)
    return (
      <Stack gap="xs">
        <Statements lines={[example.data.statement]} />
        <Latency
          instanceId={instanceId}
          statement={example.data.statement}
          database={example.data.database ?? ''}
        />
      </Stack>
    );
  return (
    <Stack gap="xs">
      <Group>
        <Button
          variant="default"
          loading={example.isPending}
          onClick={() => example.mutate(factsOf(row).digest)}
        >
          {t('statement.showLiterals')}
        </Button>
      </Group>
      {example.isError && <ErrorPanel error={example.error} />}
      {example.data && (
        <div role="status">
          <p className={classes.hint}>{apiText(`example.${example.data.reason}`, example.data.note)}</p>
          {example.data.remedy.length > 0 && <Statements lines={example.data.remedy} />}
        </div>
      )}
    </Stack>
  );
}

interface LatencyProps {
  instanceId: string;
  statement: string;
  database: string;
}

/**
 * A button that runs the statement repeatedly on the server, with and without the cache, and shows both times. No
 * counter says how long a hit takes, so it has to be measured.
 */
function Latency({ instanceId, statement, database }: LatencyProps) {
  const t = useT();
  const trial = useTrial(instanceId);
  const time = (microseconds: number) => formatDuration(microseconds / 1e6, t);
  return (
    <Stack gap="xs" aria-live="polite">
      <Group>
        <Button
          variant="default"
          loading={trial.isPending}
          onClick={() => trial.mutate({ statement, database, repetitions: REPETITIONS })}
        >
          {t('statement.measure')}
        </Button>
      </Group>
      {trial.isError && <ErrorPanel error={trial.error} />}
      {trial.data && (
        <FactList
          facts={[
            { label: t('enable.uncached'), value: time(trial.data.uncached.median_microseconds) },
            { label: t('enable.cached'), value: time(trial.data.cached.median_microseconds) },
            {
              label: t('statement.trialHits'),
              value: t('statement.ofRuns', { hits: trial.data.hits, count: trial.data.repetitions }),
            },
          ]}
        />
      )}
    </Stack>
  );
}
