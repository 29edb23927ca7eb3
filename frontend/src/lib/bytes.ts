// Parsing and formatting of byte quantities. Values may exceed 2^53 (catalogue bounds reach 2^64 - 1), so exact work
// uses bigint. Units are binary; a unit is never guessed from a name.

const UNITS = ['B', 'KiB', 'MiB', 'GiB', 'TiB', 'PiB', 'EiB'] as const;

function toBigInt(value: bigint | number | string): bigint | undefined {
  if (typeof value === 'bigint') return value;
  if (typeof value === 'number') return Number.isFinite(value) ? BigInt(Math.round(value)) : undefined;
  return /^-?\d+$/.test(value.trim()) ? BigInt(value.trim()) : undefined;
}

/**
 * `503316480` -> `480 MiB`; at most two decimals: `8117488189` -> `7.56 GiB`. Exact beyond 2^53 if given as text or
 * bigint. A text that is no integer is returned unchanged.
 */
export function formatBytes(value: bigint | number | string): string {
  const exact = toBigInt(value);
  if (exact === undefined) return String(value);
  const negative = exact < 0n;
  const magnitude = negative ? -exact : exact;
  let power = 0;
  while (power < UNITS.length - 1 && magnitude >= 1024n ** BigInt(power + 1)) power++;
  const scaled = Number(magnitude) / 1024 ** power;
  const rounded = Number(scaled.toFixed(scaled < 100 ? 2 : 1));
  return `${negative ? '-' : ''}${rounded} ${UNITS[power]}`;
}

const QUANTITY = /^(\d+)(?:\.(\d{1,6}))?\s*([kmgt])(?:i?b)?$/i;
const EXPONENT: Record<string, bigint> = { k: 1n, m: 2n, g: 3n, t: 4n };

/**
 * Reads a size with a unit from K to T as people type it (`480M`, `1.5 GiB`) as a number of bytes; all units are powers
 * of 1024. Undefined for anything else, also for a number without a unit.
 */
export function parseBytes(text: string): bigint | undefined {
  const match = QUANTITY.exec(text.trim());
  if (!match) return undefined;
  const [, whole = '0', fraction = '', unit = 'k'] = match;
  const factor = 1024n ** (EXPONENT[unit.toLowerCase()] ?? 0n);
  const scale = 10n ** BigInt(fraction.length);
  return (BigInt(whole + fraction) * factor) / scale;
}
