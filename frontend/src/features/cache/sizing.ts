// The inputs of the guided flow, and the request that they make. Pure.
import { parseBytes } from '@/lib/bytes';
import type { CacheAdvice } from '@/api/instances';

export type Rule = CacheAdvice['sizes'][number]['rule'];

export interface Sizing {
  /** The chosen rule; absent means the rule that the advice suggests. */
  rule?: Rule;
  /** The text as typed, for rules that need a number from the DBA. */
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

/** True if text was typed that is not a size. */
export function isUnreadable(text: string): boolean {
  return text.trim() !== '' && bytesOf(text) === undefined;
}

/** The largest size that can be applied, limited by the parameter's range and by the memory of the class. */
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

export function isTooLarge(sizing: Sizing, largest: number | undefined): boolean {
  const size = typedSize(sizing.rule, sizing);
  return size !== undefined && largest !== undefined && size > largest;
}

/** The inputs with the rule filled in: the chosen one, or the one that the advice suggests. */
export function withRule(sizing: Sizing, sizes: CacheAdvice['sizes'] = []): Sizing {
  return { ...sizing, rule: sizing.rule ?? sizes.find((size) => size.is_suggested)?.rule };
}

/** True if the numbers that the rule needs have been typed. */
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

/** The size that a rule yields for the typed number; undefined for rules that take no number. */
export function typedSize(rule: Rule | undefined, sizing: Sizing): number | undefined {
  if (rule === 'result_set') return sizeOfResultSet(sizing.resultSet);
  return rule === 'explicit' ? bytesOf(sizing.explicit) : undefined;
}

/** 20 % of the typed size of all result sets, rounded down to what the server accepts. */
export function sizeOfResultSet(text: string): number | undefined {
  const bytes = bytesOf(text);
  return bytes === undefined ? undefined : Math.floor(bytes / 5 / 1024) * 1024;
}
