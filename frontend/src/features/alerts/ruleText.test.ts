import { expect, test } from 'vitest';
import { englishTranslate } from '@/lib/i18n/context';
import { withWords } from '@/lib/i18n/english';
import type { AlertRule, Metric } from './api';
import { conditionText } from './ruleText';

const METRICS = [
  { name: 'unreachable', title: 'Server unreachable', unit: 'count', kind: 'state' },
  { name: 'hit_ratio', title: 'Hit ratio', unit: 'percent', kind: 'ratio' },
] as Metric[];

test.each([
  ['unreachable', 'gt', 0, 'Server unreachable'],
  ['unreachable', 'gt', 2, 'Server unreachable above 2'],
  ['hit_ratio', 'lt', 50, 'Hit ratio below 50\u00a0%'],
  ['hit_ratio', 'gt', 0, 'Hit ratio above 0\u00a0%'],
] as const)('the condition of %s %s %s is told in words', async (metric, comparison, threshold, text) => {
  await withWords(Promise.resolve());
  const rule = { metric, comparison, threshold } as AlertRule;
  expect(conditionText(rule, METRICS, englishTranslate)).toBe(text);
});
