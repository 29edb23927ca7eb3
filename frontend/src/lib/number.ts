// Numbers, ratios and durations for people. Absent values print as an en dash, never as 0.
import { byLocale } from './byLocale';
import type { Translate } from './i18n/context';

export const ABSENT = '–';

type Maybe<T> = T | null | undefined;

/** True for a finite number, so that it can be shown; false for null, undefined and NaN. */
export function isPresent(value: Maybe<number>): value is number {
  return value !== null && value !== undefined && Number.isFinite(value);
}

const whole = byLocale((locale) => new Intl.NumberFormat(locale, { maximumFractionDigits: 0 }));
const withFraction = byLocale((locale) => new Intl.NumberFormat(locale, { maximumFractionDigits: 2 }));
const compact = byLocale(
  (locale) => new Intl.NumberFormat(locale, { notation: 'compact', maximumSignificantDigits: 3 }),
);

/** A number with separators; two decimals only below 10. An en dash if absent. */
export function formatCount(value: Maybe<number>, locale = 'en'): string {
  if (!isPresent(value)) return ABSENT;
  return (value < 10 ? withFraction : whole)(locale).format(value);
}

/** A number in a short form for narrow places: `1284003` -> `1.28M`. An en dash if absent. */
export function formatCompact(value: Maybe<number>, locale = 'en'): string {
  if (!isPresent(value)) return ABSENT;
  return compact(locale).format(value);
}

export function formatRate(value: Maybe<number>, locale = 'en'): string {
  return isPresent(value) ? `${formatCompact(value, locale)}/s` : ABSENT;
}

/** Formats a percentage (0 to 100, not a fraction) with at most one decimal. An en dash if absent. */
export function formatPercent(value: Maybe<number>): string {
  return isPresent(value) ? `${Number(value.toFixed(1))}\u00a0%` : ABSENT;
}

const STEPS: [number, 'd' | 'h' | 'min' | 's'][] = [
  [86400, 'd'],
  [3600, 'h'],
  [60, 'min'],
  [1, 's'],
];

/**
 * Formats seconds in at most two units: `93784` -> `1 d 2 h`, `3.44` -> `3.4 s`, `0.0042` -> `4.2 ms`. An en dash if
 * absent.
 */
export function formatDuration(seconds: Maybe<number>, t: Translate): string {
  if (!isPresent(seconds)) return ABSENT;
  if (seconds === 0) return `0 ${t('unit.s')}`;
  if (seconds < 0.001) return `${Number((seconds * 1e6).toPrecision(3))} µs`;
  if (seconds < 1) return `${Number((seconds * 1000).toPrecision(3))} ms`;
  if (seconds < 9.95) return `${Number(seconds.toFixed(1))} ${t('unit.s')}`;
  const index = STEPS.findIndex(([size]) => seconds >= size);
  const [size, unit] = STEPS[index] ?? [1, 's'];
  const next = STEPS[index + 1];
  if (!next) return `${Math.floor(seconds)} ${t(`unit.${unit}`)}`;
  const rest = Math.floor((seconds % size) / next[0]);
  return `${Math.floor(seconds / size)} ${t(`unit.${unit}`)}${rest ? ` ${rest} ${t(`unit.${next[1]}`)}` : ''}`;
}
