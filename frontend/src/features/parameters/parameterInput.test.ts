import { describe, expect, test } from 'vitest';
import { choicesOf, judge, rangeOf } from './parameterInput';

const cacheSize = { allowed: '[0-10485760000]', unit: 'bytes', divisor: 1024, type: 'integer' };

describe('what is typed into a parameter', () => {
  test.each([
    ['480M', { kind: 'value', submitted: '503316480' }],
    ['503316480', { kind: 'value', submitted: '503316480' }],
    ['{DBInstanceClassMemory*7/100}', { kind: 'expression' }],
    ['LEAST({DBInstanceClassMemory/256},10485760)', { kind: 'expression' }],
    ['<DBInstanceClassMemory/32>', { kind: 'expression' }],
    ['lots', { kind: 'wrong', reason: 'number' }],
    ['10485761024', { kind: 'wrong', reason: 'range' }],
    ['1500', { kind: 'wrong', reason: 'multiple' }],
  ])('%s', (text, judgement) => {
    expect(judge(text, cacheSize)).toMatchObject(judgement);
  });

  test('a set keeps all of its names, and none that it does not know', () => {
    const sqlMode = { allowed: '[ANSI|ORACLE|STRICT_ALL_TABLES]', unit: '', divisor: 0, type: 'set' };
    for (const text of ['', 'ANSI', 'ansi, STRICT_ALL_TABLES'])
      expect(judge(text, sqlMode)).toEqual({ kind: 'value', submitted: text });
    expect(judge('ANSI,NONSENSE', sqlMode)).toMatchObject({ kind: 'wrong', reason: 'choice' });
  });

  test('bounds beyond 2^53 are compared exactly', () => {
    const huge = { allowed: '[512-18446744073709551608]', unit: '', divisor: 1, type: 'integer' };
    expect(judge('18446744073709551608', huge).kind).toBe('value');
    expect(judge('18446744073709551609', huge)).toMatchObject({ kind: 'wrong', reason: 'range' });
  });

  test('choices are taken in either case', () => {
    const type = { allowed: '[OFF|ON|DEMAND]', unit: '', divisor: 1, type: 'enum' };
    expect(judge('demand', type).kind).toBe('value');
    expect(judge('maybe', type)).toMatchObject({ kind: 'wrong', reason: 'choice' });
  });

  test('negative lower bounds are read', () => {
    expect(rangeOf('[-1-4194304]')).toEqual({ minimum: '-1', maximum: '4194304' });
    expect(choicesOf('[0|1|2]')).toEqual(['0', '1', '2']);
    expect(choicesOf('~[a|b]+')).toBeUndefined();
  });
});
