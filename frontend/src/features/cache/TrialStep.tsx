import { Button, Group, NumberInput, Stack, Textarea, TextInput } from '@mantine/core';
import type { FormEvent } from 'react';
import type { components } from '@/api/schema.gen';
import { useTrial, type TrialDraft } from '@/api/trial';
import { ErrorPanel } from '@/components/ErrorPanel';
import { IconPlayerPlay } from '@/components/icons';
import { StatTile, StatTiles } from '@/components/StatTile';
import { useT, useApiText } from '@/lib/i18n/context';
import { useStoredForm } from '@/lib/useStoredForm';
import { formatDuration } from '@/lib/number';
import classes from './cache.module.css';

type Trial = components['schemas']['Trial'];

const MICROSECOND = 1e-6;

const emptyTrial: TrialDraft = { statement: '', database: '', repetitions: 20 };

interface TrialStepProps {
  instanceId: string;
  statement?: string;
  database?: string;
}

/**
 * An optional step: runs one statement on a connection of its own with the cache, to see what the cache does for it
 * before other sessions are affected.
 */
export function TrialStep({ instanceId, statement = '', database = '' }: TrialStepProps) {
  const t = useT();
  const trial = useTrial(instanceId);
  const [draft, setDraft] = useStoredForm<TrialDraft>(`trial.${instanceId}${statement}`, () => ({
    ...emptyTrial,
    statement,
    database,
  }));
  const set = (next: Partial<TrialDraft>) => setDraft((old) => ({ ...old, ...next }));
  const run = (event: FormEvent) => {
    event.preventDefault();
    trial.mutate(draft);
  };
  return (
    <form onSubmit={run}>
      <Stack gap="sm">
        <p className={classes.lead}>
          {t('enable.trialLead')} {!statement && t('enable.trialSkip')}
        </p>
        <Textarea
          label={t('enable.statement')}
          required
          autosize
          minRows={3}
          size="xs"
          spellCheck={false}
          classNames={{ input: classes.mono }}
          placeholder="SELECT id, name FROM shop.product WHERE id = 7"
          value={draft.statement}
          onChange={(event) => set({ statement: event.currentTarget.value })}
        />
        <Group align="flex-end" gap="sm">
          <TextInput
            label={t('enable.database')}
            value={draft.database}
            onChange={(event) => set({ database: event.currentTarget.value })}
          />
          <NumberInput
            label={t('enable.repetitions')}
            min={2}
            max={1000}
            w={110}
            value={draft.repetitions}
            onChange={(value) => set({ repetitions: Number(value) || 20 })}
          />
          <Button
            type="submit"
            variant="light"
            leftSection={<IconPlayerPlay size={14} />}
            loading={trial.isPending}
          >
            {t('enable.runTrial')}
          </Button>
        </Group>
        {trial.isError && <ErrorPanel error={trial.error} />}
        {trial.data && <TrialResult trial={trial.data} />}
      </Stack>
    </form>
  );
}

/**
 * The key of the text that sums up a trial, from its counters. If all of them are 0, the cache has no memory: an older
 * engine is then suspended and counts nothing.
 */
function verdictOf({ hits, inserts, not_cached, repetitions }: Trial) {
  if (hits + inserts + not_cached === 0) return 'no_memory';
  if (hits >= repetitions) return 'all';
  return not_cached >= repetitions ? 'none' : 'some';
}

function TrialResult({ trial }: { trial: Trial }) {
  const t = useT();
  const apiText = useApiText();
  const time = (microseconds: number) => formatDuration(microseconds * MICROSECOND, t);
  return (
    <div aria-live="polite">
      <StatTiles>
        <StatTile
          label={t('enable.uncached')}
          value={time(trial.uncached.median_microseconds)}
          note={`p95 ${time(trial.uncached.p95_microseconds)}`}
        />
        <StatTile
          label={t('enable.cached')}
          value={time(trial.cached.median_microseconds)}
          note={`p95 ${time(trial.cached.p95_microseconds)}`}
          tone={trial.hits > 0 ? 'ok' : 'warn'}
        />
        <StatTile
          label="Qcache_hits"
          value={`+${trial.hits}`}
          note={t('enable.ofRuns', { count: trial.repetitions })}
        />
        <StatTile label="Qcache_inserts" value={`+${trial.inserts}`} />
        <StatTile label="Qcache_not_cached" value={`+${trial.not_cached}`} />
      </StatTiles>
      <p className={classes.hint}>
        {apiText(`verdict.${verdictOf(trial)}`, trial.detail, { count: trial.repetitions, hits: trial.hits })}{' '}
        {trial.is_counting_shared && t('enable.sharedCounters')}
      </p>
    </div>
  );
}
