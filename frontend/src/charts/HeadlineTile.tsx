import type { UseQueryResult } from '@tanstack/react-query';
import type { HeadlineName, Headlines } from '@/api/headlines';
import { StatTile } from '@/components/StatTile';
import { useT, useMetricText } from '@/lib/i18n/context';
import { ABSENT, isPresent } from '@/lib/number';
import { Sparkline } from './Sparkline';
import { tileOf, unitOf } from './units';

interface HeadlineTileProps {
  name: HeadlineName;
  query: Pick<UseQueryResult<Headlines>, 'data' | 'isError'>;
}

/** A tile with one key figure of the past hour and its course in that hour. `query` loads all key figures. */
export function HeadlineTile({ name, query }: HeadlineTileProps) {
  const t = useT();
  const metricText = useMetricText();
  const series = query.data?.[name];
  const words = series && metricText(series);
  const label = t(`headline.${name}`);
  return (
    <StatTile
      label={label}
      query={query}
      formula={words && `${words.title} = ${words.formula}`}
      {...(series && isPresent(series.whole)
        ? {
            ...tileOf(series.whole, unitOf(series.unit), t),
            note: <Sparkline values={series.values} label={label} isWide height={16} />,
          }
        : { value: ABSENT, note: t('fleet.noMetrics') })}
    />
  );
}
