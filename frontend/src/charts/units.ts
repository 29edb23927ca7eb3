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

/**
 * The unit of a metric by the name that the API gives it, such as `per second`. An unknown name gives `count`: its
 * values are shown as plain numbers.
 */
export function unitOf(text: string): Unit {
  return UNIT_OF_TEXT[text] ?? 'count';
}

/**
 * Formats a value with its unit. Percentages are 0 to 100; `secondRate` is microseconds per second, shown as a share of
 * one processor core. An en dash if the value is absent.
 */
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

/**
 * Formats a value for a tile, with its unit (see `formatValue`). A unit that is too long to follow the figure is
 * returned separately, as `unit`.
 */
export function tileOf(value: number | null | undefined, unit: Unit, t: Translate) {
  return unit === 'secondRate' && isPresent(value)
    ? { value: formatPercent(value / 1e4), unit: t('unit.core') }
    : { value: formatValue(value, unit, t) };
}

/** Formats a value for the ticks of an axis, where there is no room for a unit that takes several words. */
export function formatValueTick(value: number, unit: Unit, t: Translate): string {
  return unit === 'secondRate' ? formatPercent(value / 1e4) : formatValue(value, unit, t);
}

/**
 * The distance of ticks so that at most `count` of them cover the span: 1, 2 or 5 times a power of ten, or, for base 2,
 * a power of two.
 */
function niceStep(span: number, count: number, base: number): number {
  const rough = span / count;
  const magnitude = base ** Math.floor(Math.log(rough) / Math.log(base));
  const factors = base === 2 ? [1, 2] : [1, 2, 5, 10];
  return magnitude * (factors.find((factor) => factor * magnitude >= rough * 0.999) ?? base);
}

/**
 * The least height of an axis by unit, where lower ticks would all be written as 0: a KiB, or one percent of a core.
 */
const LEAST_TOP: Partial<Record<Unit, number>> = { bytes: 1024, byteRate: 1024, secondRate: 1e4 };

/**
 * The ticks of a value axis, from 0 up to `max` or the next step above it. Ticks of counts are whole numbers. An axis
 * of percentages always has 0 to 100.
 */
export function valueTicks(max: number, unit: Unit, count = 4): number[] {
  if (unit === 'percent' && max <= 100) return [0, 25, 50, 75, 100];
  const top = Math.max(max, LEAST_TOP[unit] ?? 0) || 1;
  const nice = niceStep(top, count, unit === 'bytes' || unit === 'byteRate' ? 2 : 10);
  const step = unit === 'count' ? Math.max(1, nice) : nice;
  return Array.from({ length: Math.ceil(top / step - 1e-9) + 1 }, (_, index) => index * step);
}
