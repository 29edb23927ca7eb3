import { describe, expect, test } from 'vitest';
import { localeOf } from './context';
import { en as enFirst, type MessageKey } from './en';
import { enPages } from './enPages';
import { interpolate } from './translate';
import { zh } from './zh';

const en = { ...enFirst, ...enPages };
const keys = Object.keys(en) as MessageKey[];

/** The distinct names of the values that a message takes, sorted, with the number that selects a plural form. */
function placeholders(message: string): string[] {
  return [...new Set([...message.matchAll(/\{(\w+)/g)].map((match) => match[1] ?? ''))].sort();
}

describe('the second language', () => {
  test('has every message, and no other', () => {
    expect(Object.keys(zh).sort()).toEqual([...keys].sort());
  });

  test('takes the same values in every message', () => {
    const unlike = keys.filter((key) => String(placeholders(zh[key])) !== String(placeholders(en[key])));
    expect(unlike).toEqual([]);
    expect(keys.filter((key) => zh[key] === '' || en[key] === '')).toEqual([]);
  });
});

test.each([
  [1, '1 instance'],
  [0, '0 instances'],
  [1200, '1,200 instances'],
])('%s chooses its plural form', (count, text) => {
  expect(interpolate('{count} {count|instance|instances}', { count }, 'en')).toBe(text);
});

test('a value that is not given stays visible', () => {
  expect(interpolate('Delete {name}?', {}, 'en')).toBe('Delete {name}?');
});

test.each([
  ['en', ['de-DE', 'en-GB', 'en-US'], 'en-GB'],
  ['en', ['en-US'], 'en-US'],
  ['en', ['de-DE'], 'en'],
  ['zh-CN', ['en-GB', 'zh-TW'], 'zh-TW'],
  ['zh-CN', ['en-GB'], 'zh-CN'],
] as const)('dates of %s for a browser that prefers %s are those of %s', (language, preferred, locale) => {
  expect(localeOf(language, preferred)).toBe(locale);
});
