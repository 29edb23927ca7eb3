import { Skeleton } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import type { components } from '@/api/schema.gen';
import { Sparkline } from '@/charts/Sparkline';
import { tileOf, unitOf } from '@/charts/units';
import { QueryView } from '@/components/QueryView';
import { StatTile, StatTiles } from '@/components/StatTile';
import { useT, useToldMetric } from '@/lib/i18n/context';
import { lastPresent } from '@/lib/series';
import { GLANCED, glanceQuery } from './api';
import classes from './instance.module.css';

type MetricSeries = components['schemas']['MetricSeries'];

export function GlanceTiles({ instanceId }: { instanceId: string }) {
  const told = useToldMetric();
  const glance = useQuery(glanceQuery(instanceId));
  return (
    <QueryView query={glance} skeleton={<WaitingTiles />}>
      {(data) => (
        <StatTiles>
          {data.map(told).map((series) => (
            <GlanceTile key={series.name} series={series} />
          ))}
        </StatTiles>
      )}
    </QueryView>
  );
}

/** As high as what comes, also where tiles stand in pairs: what is below does not move. */
function WaitingTiles() {
  return (
    <StatTiles>
      {GLANCED.map((name) => (
        <Skeleton key={name} className={classes.waitingTile} radius="lg" />
      ))}
    </StatTiles>
  );
}

function GlanceTile({ series }: { series: MetricSeries }) {
  const t = useT();
  const last = lastPresent(series.values);
  return (
    <StatTile
      label={series.title}
      formula={`${series.title} = ${series.formula}`}
      {...tileOf(last, unitOf(series.unit), t)}
      note={
        last === null ? (
          t('fleet.noMetrics')
        ) : (
          <Sparkline
            values={series.values}
            label={`${series.title}, ${t('fleet.lastHour')}`}
            isWide
            height={16}
          />
        )
      }
    />
  );
}
