// Rows of statement figures. The engine names the columns, and the table shows every column that it reports. A suffix
// of a column's name is read as its unit. Pure.
import { formatBytes } from '@/lib/bytes';
import type { Translate } from '@/lib/i18n/context';
import { formatCompact, formatDuration, formatPercent } from '@/lib/number';
import type { Ranking } from './search';

export type QueryRow = Record<string, string | null>;

/** Patterns of the column that each ranking sorts by, the better match first. */
const RANKED: Record<Ranking, RegExp[]> = {
  saved: [/^(?!observed).*(saved.*(us|ms|time|seconds)$|time.*saved)/i, /^(?!observed).*saved/i],
  waste: [/wast/i, /outdated|discarded|unused/i],
  observed: [/^observed.*saved/i],
};

/** Columns that only the drawer has room for. */
const NOT_IN_THE_TABLE = new Set(['key', 'Tables']);

/** Columns of an observed cache and those of a serving cache are not shown in one table. */
const IS_OBSERVED = /^observed/i;
const BESIDE_OBSERVED = /^(query|executions|not_cached|reasons|digest)$/i;

/** Column order: the statement, the ranking's column, figures, words, and last the digest, which people do not read. */
export function columnNames(rows: QueryRow[], first?: string): string[] {
  const isObserved = IS_OBSERVED.test(first ?? '');
  const names = allNames(rows).filter((name) =>
    isObserved ? IS_OBSERVED.test(name) || BESIDE_OBSERVED.test(name) : !IS_OBSERVED.test(name),
  );
  const place = (name: string) => {
    if (/^(query|statement)/i.test(name)) return 0;
    if (name === first) return 1;
    if (/digest/i.test(name)) return 4;
    return isNumeric(rows, name) ? 2 : 3;
  };
  return names.sort((a, b) => place(a) - place(b));
}

/**
 * Columns that only the drawer shows, so that the statement has room. Columns that a newer engine adds are shown in the
 * table.
 */
const IN_THE_DRAWER = new Set([
  'Inserts',
  'Bytes_saved',
  'Bytes_stored',
  'Stale_hits',
  'Reasons',
  'Sampled',
  'Digest',
]);

export function tableColumns(rows: QueryRow[], first?: string): string[] {
  return columnNames(rows, first).filter((name) => name === first || !IN_THE_DRAWER.has(name));
}

function allNames(rows: QueryRow[]): string[] {
  return [...new Set(rows.flatMap((row) => Object.keys(row)))].filter((name) => !NOT_IN_THE_TABLE.has(name));
}

export function isNumeric(rows: QueryRow[], name: string): boolean {
  if (/digest/i.test(name)) return false;
  const values = rows.map((row) => row[name]).filter((value) => value !== null && value !== undefined);
  return values.length > 0 && values.every((value) => /^-?\d+(\.\d+)?$/.test(String(value)));
}

/** The column that a ranking sorts by; undefined if the engine does not report it. */
export function rankColumn(rows: QueryRow[], ranking: Ranking): string | undefined {
  const names = allNames(rows).filter((name) => isNumeric(rows, name));
  return RANKED[ranking].flatMap((pattern) => names.find((name) => pattern.test(name)) ?? [])[0];
}

/** The rows with a value above 0 in this column, the greatest first. */
export function ranked(rows: QueryRow[], column: string | undefined): QueryRow[] {
  if (!column) return rows;
  const worth = (row: QueryRow) => Number(row[column] ?? 0);
  return rows.filter((row) => worth(row) > 0).sort((a, b) => worth(b) - worth(a));
}

/** True if any read was answered while the cache was off and observed. */
export function wereObserved(rows: QueryRow[]): boolean {
  return rows.some((row) => Number(row.Observed_requests ?? 0) > 0);
}

/**
 * The default ranking: by the time that the cache would save, while it is observed or has served nothing yet; otherwise
 * by the time that it saves.
 */
export function usualRanking(rows: QueryRow[], isObserving: boolean): Ranking {
  const hasServed = rows.some((row) => Number(row.Hits ?? 0) > 0);
  return wereObserved(rows) && (isObserving || !hasServed) ? 'observed' : 'saved';
}

/** The figures of a statement for the drawer. A figure that an older engine does not report is 0. */
export function factsOf(row: QueryRow) {
  const number = (name: string) => Number(row[name] ?? 0);
  const [executions, hits] = [number('Executions'), number('Hits')];
  return {
    digest: row.Digest ?? '',
    executions,
    hits,
    ratio: executions > 0 ? hits / executions : null,
    savedSeconds: number('Time_saved_us') / 1e6,
    stored: number('Inserts'),
    outdated: number('Outdated'),
    stale: number('Stale_hits'),
    observed: number('Observed_requests'),
    wouldHit: number('Observed_hits'),
    wouldSaveSeconds: number('Observed_time_saved_us') / 1e6,
  };
}

/** Parses reasons such as `changed=3, table_unknown=1`. */
export function reasonsOf(row: QueryRow): { name: string; count: number }[] {
  const told = (row.Reasons ?? '').split(', ').filter(Boolean);
  return told.map((text) => {
    const [name = '', count] = text.split('=');
    return { name, count: Number(count) };
  });
}

export function tablesOf(row: QueryRow): string[] {
  return (row.Tables ?? '').split(', ').filter(Boolean);
}

/** The schema of all tables of the statement; undefined if they are in several. */
export function schemaOf(row: QueryRow): string | undefined {
  const schemas = new Set(tablesOf(row).map((table) => table.split('.')[0]));
  return schemas.size === 1 ? [...schemas][0] : undefined;
}

/** True if the statement's shape has placeholders for literals. A shape without them is a statement that can be run. */
export function hasLiterals(shape: string): boolean {
  return shape.includes('?');
}

/** False for the row that sums up all other statements: its digest is all zeros. */
export function isOneStatement(row: QueryRow): boolean {
  return /[1-9a-f]/.test(row.Digest ?? '');
}

const UNITS: [RegExp, (value: number, t: Translate) => string][] = [
  [/[_ ]us$/i, (value, t) => formatDuration(value / 1e6, t)],
  [/[_ ]ms$/i, (value, t) => formatDuration(value / 1e3, t)],
  [/[_ ]seconds$/i, formatDuration],
  [/[_ ]bytes$|^bytes[_ ]/i, (value) => formatBytes(value)],
  [/[_ ]ratio$/i, (value) => formatPercent(value * 100)],
];

/** `TIME_SAVED_US` -> `Time saved`. The unit is dropped, because the formatted values contain it. */
export function readableColumn(name: string): string {
  const words = name
    .replace(/[_ ](us|ms|seconds)$/i, '')
    .toLowerCase()
    .replaceAll('_', ' ');
  return words.charAt(0).toUpperCase() + words.slice(1);
}

export function readableFigure(name: string, value: string, t: Translate): string {
  const format = UNITS.find(([suffix]) => suffix.test(name))?.[1];
  return format ? format(Number(value), t) : formatCompact(Number(value));
}

/** The part of a server's reads that a near cache could answer. Only for servers without the engine. */
export interface Estimate {
  read_time_ratio: number;
  sampled: number;
  repeated: number;
}

/** An estimate from fewer recent reads than this is not meaningful. */
const FEW = 100;

export function estimateText({ read_time_ratio: reads, sampled, repeated }: Estimate, t: Translate): string {
  const ratio = formatPercent((repeated / Math.max(sampled, 1)) * 100);
  const texts =
    sampled === 0
      ? t('queries.estimate.noTexts')
      : t('queries.estimate.repeated', { sampled: String(sampled), ratio });
  const few = sampled > 0 && sampled < FEW ? [t('queries.estimate.few')] : [];
  return [t('queries.estimate.reads', { ratio: formatPercent(reads * 100) }), texts, ...few].join(' ');
}
