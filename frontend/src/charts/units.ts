// What a value is measured in decides its axis, its ticks and its text. A unit comes with the metric's definition.
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

/** The unit as a metric's definition spells it; an unknown spelling is a plain number. */
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

/** The same in a tile, where a long unit stands below its figure. */
export function tileOf(value: number | null | undefined, unit: Unit, t: Translate) {
  return unit === 'secondRate' && isPresent(value)
    ? { value: formatPercent(value / 1e4), unit: t('unit.core') }
    : { value: formatValue(value, unit, t) };
}

/** The same beside an axis, where there is room for figures alone. */
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

/** Where an axis ends at the least. The ticks of one that ends below a percent of a core would all be written as 0. */
const LEAST_TOP: Partial<Record<Unit, number>> = { bytes: 1024, byteRate: 1024, secondRate: 1e4 };

/** Ticks from 0 to at or above `max`. Counts are whole. Percentages always show the whole of 0..100. */
export function valueTicks(max: number, unit: Unit, count = 4): number[] {
  if (unit === 'percent' && max <= 100) return [0, 25, 50, 75, 100];
  const top = Math.max(max, LEAST_TOP[unit] ?? 0) || 1;
  const nice = niceStep(top, count, unit === 'bytes' || unit === 'byteRate' ? 2 : 10);
  const step = unit === 'count' ? Math.max(1, nice) : nice;
  return Array.from({ length: Math.ceil(top / step - 1e-9) + 1 }, (_, index) => index * step);
}
