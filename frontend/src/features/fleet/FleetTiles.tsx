import { useQuery, type UseQueryResult } from '@tanstack/react-query';
import { Sparkline } from '@/charts/Sparkline';
import { tileOf, unitOf } from '@/charts/units';
import { TextLink } from '@/components/links';
import { StatTile, StatTiles } from '@/components/StatTile';
import { useT, useToldMetric } from '@/lib/i18n/context';
import { ABSENT, formatCount } from '@/lib/number';
import { lastPresent } from '@/lib/series';
import type { Tone } from '@/lib/tone';
import { summaryQuery } from './api';
import { IncidentTile } from './IncidentTile';
import { fleetMetricsQuery, type FleetSeries } from './fleetMetrics';
import { STATES, type FleetSearch } from './search';
import classes from './fleet.module.css';

type Answer = Pick<UseQueryResult, 'data' | 'isError'>;

export function FleetTiles() {
  const t = useT();
  const counted = useQuery(summaryQuery);
  const measured = useQuery(fleetMetricsQuery);
  const [summary, series] = [counted.data, measured.data];
  const running = summary?.by_state.running ?? 0;
  const notRunning = (summary?.instance_count ?? 0) - running;
  return (
    <div style={{ marginBottom: 16 }}>
      <StatTiles>
        <StatTile
          label={t('fleet.instances')}
          query={counted}
          value={formatCount(summary?.instance_count)}
          tone={summary?.instance_count ? (notRunning ? 'warn' : 'ok') : undefined}
          note={summary && <StateCounts byState={summary.by_state} />}
        />
        <MetricTile label={t('fleet.hitRatio')} query={measured} series={series?.hit_ratio} />
        <MetricTile label={t('fleet.hits')} query={measured} series={series?.hits_per_second} />
        <MetricTile label={t('fleet.saved')} query={measured} series={series?.saved_time} />
        <IncidentTile />
        <CountTile
          label={t('fleet.pending')}
          query={counted}
          count={summary?.pending_restart_count}
          search={{ pending: true }}
          tone="warn"
        />
        <CountTile
          label={t('fleet.drifted')}
          query={counted}
          count={summary?.drifted_count}
          search={{ drifted: true }}
          tone="warn"
        />
        <CountTile
          label={t('fleet.bare')}
          query={counted}
          count={summary?.without_engine_count}
          search={{ bare: true }}
          tone="info"
        />
      </StatTiles>
    </div>
  );
}

interface MetricTileProps {
  label: string;
  query: Answer;
  series: FleetSeries | undefined;
}

function MetricTile({ label, query, series }: MetricTileProps) {
  const t = useT();
  const told = useToldMetric();
  const words = series && told(series);
  const last = lastPresent(series?.values);
  return (
    <StatTile
      label={label}
      query={query}
      formula={words && `${words.title} = ${words.formula}`}
      {...(series && last !== null ? tileOf(last, unitOf(series.unit), t) : { value: ABSENT })}
      note={
        series && last !== null ? (
          <Sparkline values={series.values} label={`${label}, ${t('fleet.lastHour')}`} isWide height={16} />
        ) : (
          series && t('fleet.noMetrics')
        )
      }
    />
  );
}

/** How many are in each state; each leads to them. */
function StateCounts({ byState }: { byState: Record<string, number> }) {
  const t = useT();
  const present = STATES.filter((state) => byState[state]);
  return (
    <span className={classes.states}>
      {present.map((state) => (
        <TextLink key={state} to="/fleet" search={{ state }}>
          {formatCount(byState[state])} {t(`instance.state.${state}`)}
        </TextLink>
      ))}
    </span>
  );
}

interface CountTileProps {
  label: string;
  query: Answer;
  count: number | undefined;
  search: FleetSearch;
  tone: Tone;
}

/** A count that leads to the instances it counts. */
function CountTile({ label, query, count, search, tone }: CountTileProps) {
  return (
    <StatTile
      label={label}
      query={query}
      tone={count ? tone : undefined}
      value={
        count ? (
          <TextLink to="/fleet" search={search}>
            {formatCount(count)}
          </TextLink>
        ) : (
          formatCount(count)
        )
      }
    />
  );
}
