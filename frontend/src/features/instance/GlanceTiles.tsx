import { useQuery } from '@tanstack/react-query';
import { Sparkline } from '@/charts/Sparkline';
import { formatValue, unitOf } from '@/charts/units';
import { StatTile, StatTiles } from '@/components/StatTile';
import { useT, useToldMetric } from '@/lib/i18n/context';
import { lastPresent } from '@/lib/series';
import { glanceQuery } from './api';

export function GlanceTiles({ instanceId }: { instanceId: string }) {
  const t = useT();
  const told = useToldMetric();
  const { data } = useQuery(glanceQuery(instanceId));
  if (!data) return null;
  return (
    <StatTiles>
      {data.map(told).map((series) => {
        const last = lastPresent(series.values);
        return (
          <StatTile
            key={series.name}
            label={series.title}
            formula={`${series.title} = ${series.formula}`}
            value={formatValue(last, unitOf(series.unit))}
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
      })}
    </StatTiles>
  );
}
