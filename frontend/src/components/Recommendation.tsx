// Whether the cache would pay: one answer with its figures, from what the engine observes while the cache is off.
import { Button, Group } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import type { ReactNode } from 'react';
import { cacheAdviceQuery, type CacheAdvice } from '@/api/instances';
import { observedQuery, useObserve } from '@/api/observing';
import { useCan } from '@/api/session';
import { pollEvery } from '@/api/useConnection';
import { formatBytes } from '@/lib/bytes';
import { useT, useApiText } from '@/lib/i18n/context';
import type { TranslateApiText } from '@/lib/i18n/apiTexts';
import { ABSENT, formatCompact, formatPercent, isPresent } from '@/lib/number';
import type { Tone } from '@/lib/tone';
import { ErrorPanel } from './ErrorPanel';
import { Moment } from './Moment';
import { StatTile, StatTiles } from './StatTile';
import { ToneIcon } from './StatusBadge';
import classes from './Recommendation.module.css';

const LIVE_MS = 5_000;
const HOURS = [1, 24] as const;
type Advised = CacheAdvice['recommendation'];

const TONES: Partial<Record<Advised['verdict'], Tone>> = {
  enable: 'ok',
  keep: 'ok',
  do_not_enable: 'warn',
  reconsider: 'warn',
  no_engine: 'warn',
  no_engine_there: 'info',
};

const ON: Advised['verdict'][] = ['keep', 'reconsider', 'too_early'];
const NO_ENGINE: Advised['verdict'][] = ['no_engine', 'no_engine_there'];

type Course = (values: (number | null)[], label: string) => ReactNode;

interface RecommendationProps {
  instanceId: string;
  /** Draws the hit ratios of the past hours (percent, null for gaps) as a line with this label. */
  course: Course;
}

/**
 * Whether the cache of this instance would pay, with the figures behind the answer, and a button that starts or ends
 * the observation by the engine. Nothing until the advice is loaded.
 */
export function Recommendation({ instanceId, course }: RecommendationProps) {
  const advice = useQuery({
    ...cacheAdviceQuery(instanceId),
    refetchInterval: ({ state }) => (state.data?.observation?.is_running ? pollEvery(LIVE_MS)() : false),
  });
  if (!advice.data) return null;
  const { recommendation, observation } = advice.data;
  const isOn = ON.includes(recommendation.verdict);
  return (
    <div className={classes.panel}>
      <Answer advised={recommendation} />
      {observation && !isOn && (
        <Figures
          instanceId={instanceId}
          advised={recommendation}
          course={course}
          isRunning={observation.is_running}
        />
      )}
      {!isOn && !NO_ENGINE.includes(recommendation.verdict) && (
        <Switch instanceId={instanceId} observation={observation} />
      )}
    </div>
  );
}

function Answer({ advised }: { advised: Advised }) {
  const apiText = useApiText();
  const values = {
    ratio: formatPercent((advised.hit_ratio ?? 0) * 100),
    cores: coresText(advised.saved_cores ?? 0, apiText),
    suggested: isPresent(advised.size_bytes)
      ? apiText('fact.suggested.size', '', { size: formatBytes(advised.size_bytes) })
      : '',
    requests: advised.requests,
    hits: Math.round((advised.hit_ratio ?? 0) * advised.requests),
    enough: advised.enough_requests,
    minutes: Math.floor(advised.seconds / 60),
    enoughMinutes: advised.enough_seconds / 60,
  };
  return (
    <div className={classes.answer} role="status">
      <ToneIcon tone={TONES[advised.verdict] ?? 'info'} size={18} />
      {apiText(`recommendation.${advised.verdict}`, advised.text, values)}
    </div>
  );
}

function coresText(cores: number, apiText: TranslateApiText): string {
  return cores >= 1
    ? apiText('fact.cores.whole', '', { count: cores.toFixed(1) })
    : apiText('fact.cores.part', '', { share: formatPercent(cores * 100) });
}

interface FiguresProps {
  instanceId: string;
  advised: Advised;
  course: Course;
  isRunning: boolean;
}

function Figures({ instanceId, advised, course, isRunning }: FiguresProps) {
  const t = useT();
  const hour = useQuery(observedQuery(instanceId, HOURS[0], isRunning));
  const day = useQuery(observedQuery(instanceId, HOURS[1], isRunning));
  return (
    <StatTiles>
      <StatTile
        label={t('observe.ratio')}
        formula="SHOW FQC CURVE"
        value={formatPercent(advised.hit_ratio === null ? null : advised.hit_ratio * 100)}
      />
      <StatTile
        label={t('observe.reads')}
        formula="Fqc_observed_requests"
        value={formatCompact(advised.requests)}
        note={advised.is_enough ? t('observe.isEnough') : t('observe.isNotEnough')}
      />
      <CourseTile label={t('observe.hour')} ratios={hour.data} course={course} />
      <CourseTile label={t('observe.day')} ratios={day.data} course={course} />
    </StatTiles>
  );
}

interface CourseTileProps {
  label: string;
  ratios: (number | null)[] | undefined;
  course: Course;
}

function CourseTile({ label, ratios = [], course }: CourseTileProps) {
  const t = useT();
  const hasAny = ratios.some(isPresent);
  return (
    <StatTile
      label={label}
      value={hasAny ? course(ratios, label) : ABSENT}
      note={!hasAny && t('fleet.noMetrics')}
    />
  );
}

interface SwitchProps {
  instanceId: string;
  observation: CacheAdvice['observation'];
}

function Switch({ instanceId, observation }: SwitchProps) {
  const t = useT();
  const canChange = useCan('operator');
  const { mutate, isPending, error } = useObserve(instanceId);
  const ends = observation?.is_running ? observation.ends_at : undefined;
  return (
    <>
      {error && <ErrorPanel error={error} />}
      <p className={classes.hint}>
        {ends ? (
          <>
            {t('observe.endsAt')} <Moment at={ends} />
          </>
        ) : (
          t('observe.hint')
        )}
      </p>
      {canChange && (
        <Group gap="xs">
          {ends ? (
            <Button variant="default" loading={isPending} onClick={() => mutate(0)}>
              {t('observe.end')}
            </Button>
          ) : (
            HOURS.map((hours) => (
              <Button key={hours} variant="light" loading={isPending} onClick={() => mutate(hours)}>
                {t('observe.begin', { count: hours })}
              </Button>
            ))
          )}
        </Group>
      )}
    </>
  );
}
