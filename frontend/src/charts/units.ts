// The unit of a value determines its axis, ticks and text. It comes with the metric's definition.
import { formatBytes } from '@/lib/bytes';
import type { Translate } from '@/lib/i18n/context';
import {
  ABSENT,
  formatCompact,
  formatCount,
  formatDuration,
  formatPercent,
  formatRate,
  isPresent,
} from '@/lib/number';

export type Unit =
  'count' | 'rate' | 'percent' | 'bytes' | 'byteRate' | 'seconds' | 'milliseconds' | 'secondRate';

const UNIT_OF_TEXT: Record<string, Unit> = {
  percent: 'percent',
  bytes: 'bytes',
  seconds: 'seconds',
  milliseconds: 'milliseconds',
  count: 'count',
  'per second': 'rate',
  'bytes per second': 'byteRate',
  'microseconds per second': 'secondRate',
};

/** The unit that a metric's definition names; an unknown unit is shown as a plain number. */
export function unitOf(text: string): Unit {
  return UNIT_OF_TEXT[text] ?? 'count';
}

export function formatValue(value: number | null | undefined, unit: Unit, t: Translate): string {
  if (value === null || value === undefined) return ABSENT;
  switch (unit) {
    case 'percent':
      return formatPercent(value);
    case 'bytes':
      return formatBytes(value);
    case 'rate':
      return formatRate(value);
    case 'byteRate':
      return `${formatBytes(value)}/s`;
    case 'seconds':
      return formatDuration(value, t);
    case 'milliseconds':
      return formatDuration(value / 1000, t);
    case 'secondRate':
      return t('unit.ofACore', { share: formatPercent(value / 1e4) });
    case 'count':
      return Math.abs(value) < 1_000_000 ? formatCount(value) : formatCompact(value);
  }
}

/** Like `formatValue`, for a tile, where a long unit stands below the figure. */
export function tileOf(value: number | null | undefined, unit: Unit, t: Translate) {
  return unit === 'secondRate' && isPresent(value)
    ? { value: formatPercent(value / 1e4), unit: t('unit.core') }
    : { value: formatValue(value, unit, t) };
}

/** Like `formatValue`, for an axis, where there is no room for words. */
export function formatValueTick(value: number, unit: Unit, t: Translate): string {
  return unit === 'secondRate' ? formatPercent(value / 1e4) : formatValue(value, unit, t);
}

/** A step of 1, 2 or 5 times a power of the base, giving at most `count` intervals. */
function niceStep(span: number, count: number, base: number): number {
  const rough = span / count;
  const magnitude = base ** Math.floor(Math.log(rough) / Math.log(base));
  const factors = base === 2 ? [1, 2] : [1, 2, 5, 10];
  return magnitude * (factors.find((factor) => factor * magnitude >= rough * 0.999) ?? base);
}

/** The lowest maximum of an axis. The ticks of an axis below one percent of a core would all be written as 0. */
const LEAST_TOP: Partial<Record<Unit, number>> = { bytes: 1024, byteRate: 1024, secondRate: 1e4 };

/** Ticks from 0 to at or above `max`. Counts are whole. Percentages always show the whole of 0..100. */
export function valueTicks(max: number, unit: Unit, count = 4): number[] {
  if (unit === 'percent' && max <= 100) return [0, 25, 50, 75, 100];
  const top = Math.max(max, LEAST_TOP[unit] ?? 0) || 1;
  const nice = niceStep(top, count, unit === 'bytes' || unit === 'byteRate' ? 2 : 10);
  const step = unit === 'count' ? Math.max(1, nice) : nice;
  return Array.from({ length: Math.ceil(top / step - 1e-9) + 1 }, (_, index) => index * step);
}
