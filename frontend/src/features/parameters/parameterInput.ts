// Checks a typed parameter value before a request is sent, by the parameter's definition alone. The preview decides.
// Pure.
import { formatBytes, parseBytes } from '@/lib/bytes';
import type { InstanceParameter } from '@/api/instances';
import type { Translate } from '@/lib/i18n/context';

type Definition = Pick<InstanceParameter, 'allowed' | 'unit' | 'divisor' | 'type'>;

/**
 * The kind of a typed value: an expression, which only the server can check; a value, with sizes converted to bytes as
 * `submitted`; or a wrong value with the reason.
 */
export type Judgement =
  | { kind: 'expression' }
  | { kind: 'value'; submitted: string }
  | { kind: 'wrong'; reason: 'choice' | 'number' | 'range' | 'multiple'; detail: string };

const EXPRESSION = /^\s*(\{|<|(least|greatest|sum)\s*\()/i;
const RANGE = /^\[(-?\d+(?:\.\d+)?)-(-?\d+(?:\.\d+)?)\]$/;

/** True if the text begins like an expression, such as `{DBInstanceClassMemory*3/4}`. */
export function isExpression(text: string): boolean {
  return EXPRESSION.test(text);
}

/** The choices that a definition such as `[0|1|2]` allows. Undefined if it is a range, a pattern or free text. */
export function choicesOf(allowed: string): string[] | undefined {
  return /^\[[^\]]*\|[^\]]*\]$/.test(allowed) ? allowed.slice(1, -1).split('|') : undefined;
}

/** The names in the value of a set parameter such as `sql_mode`, which separates them by commas. */
export function namesOf(text: string): string[] {
  return text
    .split(',')
    .map((name) => name.trim())
    .filter((name) => name !== '');
}

function isOneOf(choices: string[], text: string): boolean {
  return choices.some((choice) => choice.toUpperCase() === text.toUpperCase());
}

/**
 * The bounds of a definition such as `[0-10485760000]`, as text, since they may exceed 2^53. Undefined for other ones.
 */
export function rangeOf(allowed: string): { minimum: string; maximum: string } | undefined {
  const match = RANGE.exec(allowed);
  return match ? { minimum: match[1] ?? '', maximum: match[2] ?? '' } : undefined;
}

/** The allowed values for people: a range as `0 B – 9.77 GiB`, choices as `0 | 1 | 2`. */
export function readableRange({ allowed, unit }: Pick<InstanceParameter, 'allowed' | 'unit'>): string {
  const range = rangeOf(allowed);
  if (!range) return allowed.replace(/^\[|\]$/g, '').replaceAll('|', ' | ');
  const show = (text: string) => (unit === 'bytes' ? formatBytes(text) : text);
  return `${show(range.minimum)} – ${show(range.maximum)}`;
}

function compare(left: string, right: string): number {
  if (/^-?\d+$/.test(left) && /^-?\d+$/.test(right)) {
    const difference = BigInt(left) - BigInt(right);
    return difference < 0n ? -1 : difference > 0n ? 1 : 0;
  }
  return Number(left) - Number(right);
}

/** Checks a typed value against the parameter's definition. A size with a unit is converted to bytes. */
export function judge(text: string, definition: Definition): Judgement {
  if (isExpression(text)) return { kind: 'expression' };
  const bytes = definition.unit === 'bytes' ? parseBytes(text) : undefined;
  const submitted = bytes === undefined ? text : bytes.toString();
  const choices = choicesOf(definition.allowed);
  const parts = definition.type === 'set' ? namesOf(submitted) : [submitted.trim()];
  if (choices && !parts.every((part) => isOneOf(choices, part))) {
    return { kind: 'wrong', reason: 'choice', detail: choices.join(', ') };
  }
  return judgeNumber(submitted, definition);
}

function judgeNumber(submitted: string, definition: Definition): Judgement {
  const range = rangeOf(definition.allowed);
  if (!range) return { kind: 'value', submitted };
  const number = submitted.trim();
  if (!/^-?\d+(\.\d+)?$/.test(number)) return { kind: 'wrong', reason: 'number', detail: definition.allowed };
  if (compare(number, range.minimum) < 0 || compare(number, range.maximum) > 0) {
    return { kind: 'wrong', reason: 'range', detail: `${range.minimum} – ${range.maximum}` };
  }
  if (
    definition.divisor > 1 &&
    /^-?\d+$/.test(number) &&
    BigInt(number) % BigInt(definition.divisor) !== 0n
  ) {
    return { kind: 'wrong', reason: 'multiple', detail: String(definition.divisor) };
  }
  return { kind: 'value', submitted };
}

export function wrongText(judgement: Extract<Judgement, { kind: 'wrong' }>, t: Translate): string {
  return t(`parameters.wrong.${judgement.reason}`, { detail: judgement.detail });
}
