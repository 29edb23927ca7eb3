// What a value is measured in decides its axis, its ticks and its text. A unit comes with the metric's definition.
import { formatBytes } from '@/lib/bytes';
import { ABSENT, formatCompact, formatCount, formatDuration, formatRate, formatRatio } from '@/lib/number';

export type Unit = 'count' | 'rate' | 'ratio' | 'bytes' | 'seconds';

export function formatValue(value: number | null | undefined, unit: Unit): string {
  if (value === null || value === undefined) return ABSENT;
  switch (unit) {
    case 'ratio':
      return formatRatio(value);
    case 'bytes':
      return formatBytes(value);
    case 'rate':
      return formatRate(value);
    case 'seconds':
      return formatDuration(value);
    case 'count':
      return Math.abs(value) < 1_000_000 ? formatCount(value) : formatCompact(value);
  }
}

/** A step of 1, 2 or 5 times a power of the base, giving at most `count` intervals. */
function niceStep(span: number, count: number, base: number): number {
  const rough = span / count;
  const magnitude = base ** Math.floor(Math.log(rough) / Math.log(base));
  const factors = base === 2 ? [1, 2] : [1, 2, 5, 10];
  return magnitude * (factors.find((factor) => factor * magnitude >= rough * 0.999) ?? base);
}

/** Ticks from 0 to at or above `max`. Ratios always show the whole of 0..100 %. */
export function valueTicks(max: number, unit: Unit, count = 4): number[] {
  if (unit === 'ratio') return [0, 0.25, 0.5, 0.75, 1];
  const top = max > 0 ? max : 1;
  const step = niceStep(top, count, unit === 'bytes' ? 2 : 10);
  return Array.from({ length: Math.ceil(top / step - 1e-9) + 1 }, (_, index) => index * step);
}
