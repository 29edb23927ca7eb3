import { expect, test } from 'vitest';
import { choiceParam, dayParam, flagParam, numberParam, textParam } from './searchParams';

test('what does not fit is dropped', () => {
  const raw = { text: '', choice: 'sideways', number: 'many', flag: 'perhaps' };
  expect(textParam(raw, 'text')).toBeUndefined();
  expect(choiceParam(raw, 'choice', ['up', 'down'])).toBeUndefined();
  expect(numberParam(raw, 'number')).toBeUndefined();
  expect(flagParam(raw, 'flag')).toBeUndefined();
});

test('what fits is read, also when the address gave another type', () => {
  expect(textParam({ search: 42 }, 'search')).toBe('42');
  expect(choiceParam({ way: 'up' }, 'way', ['up', 'down'])).toBe('up');
  expect(numberParam({ from: '17' }, 'from')).toBe(17);
  expect(flagParam({ live: true }, 'live')).toBe(true);
});

test('a day is one as a date field writes it', () => {
  expect(dayParam({ from: '2026-11-01' }, 'from')).toBe('2026-11-01');
  for (const from of ['2026-11', '2026-13-01', 'yesterday', 20261101, undefined])
    expect(dayParam({ from }, 'from')).toBeUndefined();
});
