// Predicted hit ratio by cache size. Every point is also a button, so the keyboard can choose one.
import { VisuallyHidden } from '@mantine/core';
import { useRef, type MouseEvent } from 'react';
import { useI18n } from '@/lib/i18n/context';
import { formatBytes } from '@/lib/bytes';
import { formatPercent } from '@/lib/number';
import {
  CartesianGrid,
  ComposedChart,
  Line,
  ReferenceLine,
  ResponsiveContainer,
  Tooltip,
  XAxis,
  YAxis,
} from 'recharts';
import { NearestPoint, type Nearest } from './NearestPoint';
import classes from './charts.module.css';

/** A point of the predicted curve. `size` is the size of the cache in bytes. */
export interface CurvePoint {
  size: number;
  /** The predicted hit ratio at this size, from 0 to 1. */
  ratio: number;
}

interface CurveChartProps {
  points: CurvePoint[];
  present: number | undefined;
  presentLabel: string;
  actionLabel: (size: number) => string;
  onChoose: (size: number) => void;
}

const AXIS = { fontSize: 11, fill: 'var(--fqc-muted)' };

/**
 * The predicted hit ratio by cache size. `present` is the size that the cache has now, marked on the chart. A click on
 * the chart, or the button of a point, calls `onChoose` with the size of the nearest point.
 */
export function CurveChart({ points, present, presentLabel, actionLabel, onChoose }: CurveChartProps) {
  const { t } = useI18n();
  const nearest = useRef<Nearest>(undefined);
  const rows = points
    .map(({ size, ratio }) => ({ size, ratio: ratio * 100 }))
    .sort((a, b) => a.size - b.size);
  // Chooses the size that is nearest to a click. The handler is on an element that stays mounted, because the chart may
  // redraw its contents between press and release. The position comes from the pointer event: the chart only knows
  // where the pointer last moved, and a finger does not move.
  const choose = ({ clientX, currentTarget }: MouseEvent) => {
    const at = nearest.current?.(clientX - currentTarget.getBoundingClientRect().left);
    if (at !== undefined) onChoose(Number(at));
  };
  return (
    <>
      <div role="img" aria-label={t('queries.curve')} className={classes.choiceArea} onClick={choose}>
        <ResponsiveContainer width="100%" height={240} initialDimension={{ width: 600, height: 240 }}>
          <ComposedChart
            data={rows}
            margin={{ top: 16, right: 32, bottom: 0, left: 0 }}
            accessibilityLayer={false}
          >
            <CartesianGrid stroke="var(--fqc-grid)" vertical={false} />
            <XAxis
              dataKey="size"
              type="number"
              scale="log"
              domain={['dataMin', 'dataMax']}
              ticks={rows.map(({ size }) => size)}
              tickFormatter={(size: number) => formatBytes(size)}
              tick={AXIS}
              tickLine={false}
              axisLine={{ stroke: 'var(--fqc-border)' }}
            />
            <YAxis
              domain={[0, 100]}
              tickFormatter={(value: number) => `${value} %`}
              tick={AXIS}
              width={48}
              tickLine={false}
              axisLine={false}
            />
            <Tooltip
              isAnimationActive={false}
              formatter={(value) => formatPercent(Number(value))}
              labelFormatter={(size) => formatBytes(Number(size))}
              contentStyle={{
                background: 'var(--fqc-surface)',
                border: '1px solid var(--fqc-border)',
                fontSize: 12,
              }}
            />
            <Line
              dataKey="ratio"
              name={t('near.hitRatio')}
              stroke="var(--fqc-series-1)"
              strokeWidth={2}
              isAnimationActive={false}
            />
            {present !== undefined && present > 0 && (
              <ReferenceLine
                x={present}
                stroke="var(--fqc-series-2)"
                strokeDasharray="4 3"
                label={{
                  value: presentLabel,
                  fontSize: 11,
                  fill: 'var(--fqc-series-2)',
                  position: 'insideTopRight',
                }}
              />
            )}
            <NearestPoint nearestRef={nearest} />
          </ComposedChart>
        </ResponsiveContainer>
      </div>
      <ul className={classes.choices}>
        {rows.map(({ size, ratio }) => (
          <li key={size}>
            <button
              type="button"
              onClick={() => onChoose(size)}
              title={actionLabel(size)}
              data-present={size === present || undefined}
            >
              <VisuallyHidden>{actionLabel(size)} </VisuallyHidden>
              {formatBytes(size)} <strong>{formatPercent(ratio)}</strong>
            </button>
          </li>
        ))}
      </ul>
    </>
  );
}
