// Moments in the viewer's zone; the UTC form is for titles and exports.
import { byLocale } from './byLocale';

type Moment = string | number | Date;

/** Formats a moment as `2026-11-22 01:59:59 UTC`. */
export function formatUtc(moment: Moment): string {
  return new Date(moment)
    .toISOString()
    .replace('T', ' ')
    .replace(/\.\d+Z$/, ' UTC');
}

const TO_THE_MINUTE: Intl.DateTimeFormatOptions = {
  year: 'numeric',
  month: 'short',
  day: '2-digit',
  hour: '2-digit',
  minute: '2-digit',
  hourCycle: 'h23',
};

const toTheMinute = byLocale((locale) => new Intl.DateTimeFormat(locale, TO_THE_MINUTE));
const toTheSecond = byLocale(
  (locale) => new Intl.DateTimeFormat(locale, { ...TO_THE_MINUTE, second: '2-digit' }),
);

/** Formats a moment in the viewer's time zone, without naming the zone, to the minute or the second. */
export function formatLocal(moment: Moment, locale: string, withSeconds = false): string {
  return (withSeconds ? toTheSecond : toTheMinute)(locale).format(new Date(moment));
}

/**
 * The offset of the viewer's time zone at that moment, such as `UTC+02:00`, for texts whose reader may be in another
 * zone.
 */
export function formatZone(moment: Moment): string {
  const minutes = -new Date(moment).getTimezoneOffset();
  const [hours, rest] = [Math.floor(Math.abs(minutes) / 60), Math.abs(minutes) % 60];
  const two = (value: number) => String(value).padStart(2, '0');
  return `UTC${minutes < 0 ? '-' : '+'}${two(hours)}:${two(rest)}`;
}

const RELATIVE_STEPS: [Intl.RelativeTimeFormatUnit, number][] = [
  ['day', 86400],
  ['hour', 3600],
  ['minute', 60],
  ['second', 1],
];

const relative = byLocale(
  (locale) => new Intl.RelativeTimeFormat(locale, { numeric: 'auto', style: 'short' }),
);

/** A moment relative to `now` (milliseconds since 1970), such as `5 min. ago`. */
export function formatRelative(moment: Moment, now: number, locale: string): string {
  const seconds = (new Date(moment).getTime() - now) / 1000;
  const [unit, size] = RELATIVE_STEPS.find(([, step]) => Math.abs(seconds) >= step) ?? ['second', 1];
  return relative(locale).format(Math.trunc(seconds / size), unit);
}

/** The moment in the viewer's time zone as YYYY-MM-DDTHH:MM, the value of an `<input type="datetime-local">`. */
export function toLocalInput(moment: Moment): string {
  const date = new Date(moment);
  return new Date(date.getTime() - date.getTimezoneOffset() * 60_000).toISOString().slice(0, 16);
}
