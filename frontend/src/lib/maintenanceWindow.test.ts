import { expect, test } from 'vitest';
import { openingOf } from './maintenanceWindow';

const daily = { weekday: null, start: '02:00:00', minutes: 60 };
const sundays = { weekday: 6, start: '23:30', minutes: 120 };

// 22 November 2026 is a Sunday.
test.each([
  ['before it opens, today', daily, '2026-11-22T01:59:59Z', '2026-11-22T02:00:00Z'],
  ['while it is open, now', daily, '2026-11-22T02:59:59Z', '2026-11-22T02:00:00Z'],
  ['once it has closed, tomorrow', daily, '2026-11-22T03:00:00Z', '2026-11-23T02:00:00Z'],
  ['of one weekday, the next of these', sundays, '2026-11-23T01:30:00Z', '2026-11-29T23:30:00Z'],
  ['still open past midnight', sundays, '2026-11-23T01:29:59Z', '2026-11-22T23:30:00Z'],
  ['on its day', sundays, '2026-11-22T08:00:00Z', '2026-11-22T23:30:00Z'],
])('a window opens next %s', (_, window, now, opening) => {
  expect(new Date(openingOf(window, Date.parse(now)))).toEqual(new Date(opening));
});
