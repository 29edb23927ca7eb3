import { useQuery, type UseQueryResult } from '@tanstack/react-query';
import { fleetHeadlinesQuery } from '@/api/headlines';
import { HeadlineTile } from '@/charts/HeadlineTile';
import { TextLink } from '@/components/links';
import { StatTile, StatTiles } from '@/components/StatTile';
import { useT } from '@/lib/i18n/context';
import { formatCount } from '@/lib/number';
import type { Tone } from '@/lib/tone';
import { summaryQuery } from './api';
import { IncidentTile } from './IncidentTile';
import { STATES, type FleetSearch } from './search';
import classes from './fleet.module.css';

type Answer = Pick<UseQueryResult, 'data' | 'isError'>;

const SHOWN = ['select_hit_ratio', 'served_per_second', 'saved_time'] as const;

export function FleetTiles() {
  const t = useT();
  const counted = useQuery(summaryQuery);
  const measured = useQuery(fleetHeadlinesQuery);
  const summary = counted.data;
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
        {SHOWN.map((name) => (
          <HeadlineTile key={name} name={name} query={measured} />
        ))}
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

/** The number of instances in each state, linked to the list of them. States without instances are left out. */
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

/** A tile with a number of instances, linked to the list of them by the filters in `search`. */
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
