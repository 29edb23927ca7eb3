// The inputs of the guided flow, and the request that they make. Pure.
import { parseBytes } from '@/lib/bytes';
import type { CacheAdvice } from '@/api/instances';

export type Rule = CacheAdvice['sizes'][number]['rule'];

/** The inputs of the guided flow that enables the cache. */
export interface Sizing {
  /** The chosen rule for the size. Absent means the one that the advice suggests. */
  rule?: Rule;
  /** The size of all result sets as typed, for the rule that takes a share of it. `explicit` is a typed cache size. */
  resultSet: string;
  explicit: string;
  type: '1' | '2';
  isPoolShrunk: boolean;
  isRestartAllowed: boolean;
}

export const initialSizing: Sizing = {
  resultSet: '',
  explicit: '',
  type: '1',
  isPoolShrunk: true,
  isRestartAllowed: false,
};

function bytesOf(text: string): number | undefined {
  const bytes = parseBytes(text) ?? (/^\d+$/.test(text.trim()) ? BigInt(text.trim()) : undefined);
  return bytes === undefined || bytes > BigInt(Number.MAX_SAFE_INTEGER) ? undefined : Number(bytes);
}

/** True if text was typed that is no size, with or without a unit. False for an empty field. */
export function isUnreadable(text: string): boolean {
  return text.trim() !== '' && bytesOf(text) === undefined;
}

/**
 * The largest size in bytes that can be applied: the smaller of the maximum of the parameter's range (`allowed`, such
 * as `[0-1048576]`) and the memory of the instance's class. Undefined if neither is known.
 */
export function largestSize(
  allowed: string | undefined,
  memoryBytes: number | undefined,
): number | undefined {
  const limit = /^\[\d+-(\d+)\]$/.exec(allowed ?? '')?.[1];
  const known = [limit === undefined ? undefined : Number(limit), memoryBytes].filter(
    (bytes) => bytes !== undefined,
  );
  return known.length ? Math.min(...known) : undefined;
}

/** True if a size was typed that exceeds `largest`. False if either is unknown. */
export function isTooLarge(sizing: Sizing, largest: number | undefined): boolean {
  const size = typedSize(sizing.rule, sizing);
  return size !== undefined && largest !== undefined && size > largest;
}

/** A copy of the inputs with the chosen rule, or, before a choice, with the rule that the advice suggests. */
export function withRule(sizing: Sizing, sizes: CacheAdvice['sizes'] = []): Sizing {
  return { ...sizing, rule: sizing.rule ?? sizes.find((size) => size.is_suggested)?.rule };
}

/** True if the chosen rule needs no typed size, or a readable one was typed. */
export function isSizingComplete(sizing: Sizing): boolean {
  if (sizing.rule === 'result_set') return bytesOf(sizing.resultSet) !== undefined;
  if (sizing.rule === 'explicit') return bytesOf(sizing.explicit) !== undefined;
  return true;
}

export function sizingRequest(sizing: Sizing) {
  return {
    ...(sizing.rule && { rule: sizing.rule }),
    type: sizing.type === '2' ? (2 as const) : (1 as const),
    shrink_buffer_pool: sizing.isPoolShrunk,
    allow_restart: sizing.isRestartAllowed,
    ...(sizing.rule === 'result_set' && { result_set_bytes: bytesOf(sizing.resultSet) }),
    ...(sizing.rule === 'explicit' && { size_bytes: bytesOf(sizing.explicit) }),
  };
}

/**
 * The size of the cache in bytes by a rule that takes a typed size. Undefined for other rules, or if the text cannot be
 * read.
 */
export function typedSize(rule: Rule | undefined, sizing: Sizing): number | undefined {
  if (rule === 'result_set') return sizeOfResultSet(sizing.resultSet);
  return rule === 'explicit' ? bytesOf(sizing.explicit) : undefined;
}

/**
 * A fifth of the typed size of all result sets, in bytes, rounded down to whole KiB as the server demands. Undefined if
 * the text cannot be read.
 */
export function sizeOfResultSet(text: string): number | undefined {
  const bytes = bytesOf(text);
  return bytes === undefined ? undefined : Math.floor(bytes / 5 / 1024) * 1024;
}
