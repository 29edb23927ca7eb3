import { expect, test } from 'vitest';
import { byLocale } from './byLocale';

test('what depends on the locale is made once for each', () => {
  const made: string[] = [];
  const formatter = byLocale((locale) => {
    made.push(locale);
    return new Intl.NumberFormat(locale);
  });
  expect(formatter('de').format(1234)).toBe('1.234');
  expect(formatter('en').format(1234)).toBe('1,234');
  expect(formatter('de')).toBe(formatter('de'));
  expect(made).toEqual(['de', 'en']);
});
