import { useQuery } from '@tanstack/react-query';
import { ChartPanel } from '@/charts/ChartPanel';
import { buildTimeChart } from '@/charts/timeChartModel';
import { unitOf } from '@/charts/units';
import { QueryView } from '@/components/QueryView';
import { useT, useMetricText } from '@/lib/i18n/context';
import { incidentSeriesQuery, type IncidentDetail, type IncidentSeries } from './api';

/**
 * The chart of the hour around an incident's start. It plots the metric of the incident's rule, or, for a rule about a
 * state, the metric that shows it best.
 */
export function IncidentChart({ incident, instance }: { incident: IncidentDetail; instance: string }) {
  const series = useQuery(incidentSeriesQuery(instance, incident));
  return <QueryView query={series}>{(data) => <Chart incident={incident} answer={data} />}</QueryView>;
}

function Chart({ incident, answer }: { incident: IncidentDetail; answer: IncidentSeries }) {
  const t = useT();
  const metricText = useMetricText();
  const [found] = answer.series;
  if (!found) return null;
  const { title, formula } = metricText(found);
  const times = answer.times.map((at) => at * 1000);
  const opened = Date.parse(incident.opened_at);
  const model = buildTimeChart({
    series: [
      {
        key: found.name,
        label: title,
        formula,
        color: 1,
        samples: times.map((at, index) => [at, found.values[index] ?? null] as const),
      },
    ],
    from: times[0] ?? opened,
    to: times.at(-1) ?? opened,
    unit: unitOf(found.unit),
    annotations: [
      { at: opened, label: t('incidents.opened') },
      ...(incident.resolved_at
        ? [{ at: Date.parse(incident.resolved_at), label: t('incidents.resolved') }]
        : []),
    ],
  });
  return <ChartPanel title={title} subject={incident.instance_name} model={model} height={150} />;
}
