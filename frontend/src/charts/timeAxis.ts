// Ticks of a time axis, aligned to the viewer's clock.
import { byLocale } from '@/lib/byLocale';

const SECOND = 1000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;

const STEPS = [
  ...[5, 10, 15, 30].map((n) => n * SECOND),
  ...[1, 2, 5, 10, 15, 30].map((n) => n * MINUTE),
  ...[1, 2, 3, 6, 12].map((n) => n * HOUR),
  ...[1, 2, 5, 10, 15, 30].map((n) => n * DAY),
];

/**
 * At most about `count` ticks from `from` to `to`, all in milliseconds, at round times of the viewer's clock.
 * `offsetMs` is the offset of the viewer's time zone.
 */
export function timeTicks(from: number, to: number, count: number, offsetMs = zoneOffsetMs(from)): number[] {
  const step = STEPS.find((size) => (to - from) / size <= count) ?? 30 * DAY;
  const first = Math.ceil((from + offsetMs) / step) * step - offsetMs;
  const ticks: number[] = [];
  for (let tick = first; tick <= to; tick += step) ticks.push(tick);
  return ticks;
}

function zoneOffsetMs(moment: number): number {
  return -new Date(moment).getTimezoneOffset() * MINUTE;
}

const HOURS: Intl.DateTimeFormatOptions = { hour: '2-digit', minute: '2-digit', hourCycle: 'h23' };
const toTheDay = byLocale((locale) => new Intl.DateTimeFormat(locale, { month: 'short', day: '2-digit' }));
const toTheMinute = byLocale((locale) => new Intl.DateTimeFormat(locale, HOURS));
const toTheSecond = byLocale((locale) => new Intl.DateTimeFormat(locale, { ...HOURS, second: '2-digit' }));

/** A tick's label in the viewer's time zone: the day, minutes or seconds, by the length of the axis. */
export function formatTick(moment: number, spanMs: number, locale: string): string {
  const form = spanMs > 2 * DAY ? toTheDay : spanMs < 5 * MINUTE ? toTheSecond : toTheMinute;
  return form(locale).format(new Date(moment));
}
