// Draws a time chart model. It neither fetches nor computes data.
import {
  Area,
  CartesianGrid,
  ComposedChart,
  Line,
  ReferenceLine,
  ResponsiveContainer,
  Tooltip,
  XAxis,
  YAxis,
} from 'recharts';
import { useI18n } from '@/lib/i18n/context';
import { AnnotationMark } from './AnnotationMark';
import { ChartTooltip } from './ChartTooltip';
import { formatTick } from './timeAxis';
import type { TimeChartModel } from './timeChartModel';
import { formatValueTick } from './units';
import { ZoomArea } from './ZoomArea';

interface TimeChartProps {
  model: TimeChartModel;
  height?: number;
  syncId?: string;
  isFilled?: boolean;
  onZoom?: (from: number, to: number) => void;
}

/** Replaces spaces, so that a tick label such as `512 KiB/s` does not wrap. */
function unbroken(text: string): string {
  return text.replaceAll(' ', '\u00a0');
}

function dashesOf({ isDashed, isDotted }: TimeChartModel['series'][number]): string | undefined {
  if (isDotted) return isDashed ? '10 6 2 6' : '6 6';
  return isDashed ? '5 4' : undefined;
}

const AXIS = { fontSize: 11, fill: 'var(--fqc-muted)' };

export function TimeChart({ model, height = 220, syncId, isFilled, onZoom }: TimeChartProps) {
  const { locale, t } = useI18n();
  const span = model.domain[1] - model.domain[0];

  return (
    <ResponsiveContainer width="100%" height={height} initialDimension={{ width: 600, height }}>
      <ComposedChart
        data={model.rows}
        syncId={syncId}
        syncMethod="value"
        margin={{ top: 8, right: 10, bottom: 0, left: 0 }}
        accessibilityLayer={false}
        style={{ userSelect: 'none' }}
      >
        <CartesianGrid stroke="var(--fqc-grid)" vertical={false} />
        <XAxis
          dataKey="at"
          type="number"
          domain={model.domain}
          ticks={model.ticks}
          tickFormatter={(tick: number) => formatTick(tick, span, locale)}
          tick={AXIS}
          tickLine={false}
          axisLine={{ stroke: 'var(--fqc-border)' }}
          allowDataOverflow
        />
        <YAxis
          ticks={model.valueTicks}
          domain={[0, model.valueTicks.at(-1) ?? 1]}
          tickFormatter={(tick: number) => unbroken(formatValueTick(tick, model.unit, t))}
          tick={AXIS}
          width={62}
          tickLine={false}
          axisLine={false}
        />
        <Tooltip
          content={<ChartTooltip model={model} />}
          isAnimationActive={false}
          cursor={{ stroke: 'var(--fqc-muted)' }}
        />
        {model.series.map((series) =>
          isFilled ? (
            <Area
              key={series.key}
              dataKey={series.key}
              name={series.label}
              stroke={`var(--fqc-series-${series.color})`}
              fill={`var(--fqc-series-${series.color})`}
              fillOpacity={0.14}
              strokeWidth={1.75}
              strokeDasharray={dashesOf(series)}
              dot={false}
              isAnimationActive={false}
            />
          ) : (
            <Line
              key={series.key}
              dataKey={series.key}
              name={series.label}
              stroke={`var(--fqc-series-${series.color})`}
              strokeWidth={1.75}
              strokeDasharray={dashesOf(series)}
              dot={false}
              isAnimationActive={false}
            />
          ),
        )}
        {model.annotations.map((annotation) => (
          <ReferenceLine
            key={`${annotation.at}:${annotation.label}`}
            x={annotation.at}
            stroke="var(--fqc-series-4)"
            strokeDasharray="3 3"
            label={<AnnotationMark annotation={annotation} />}
          />
        ))}
        {onZoom && <ZoomArea domain={model.domain} onZoom={onZoom} />}
      </ComposedChart>
    </ResponsiveContainer>
  );
}
