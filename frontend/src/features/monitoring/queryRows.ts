// Rows of statement figures. The engine names the columns, and the table shows every column that it reports. A suffix
// of a column's name is read as its unit. Pure.
import type { components } from '@/api/schema.gen';
import { formatBytes } from '@/lib/bytes';
import type { Translate } from '@/lib/i18n/context';
import { formatCompact, formatDuration, formatPercent } from '@/lib/number';
import type { Ranking } from './search';

/** The figures of one statement as text, by the name of the column. Which columns there are depends on the engine. */
export type QueryRow = Record<string, string | null>;

/** Patterns of the name of the column that each ranking sorts by. The first pattern that matches a column wins. */
const RANKED: Record<Ranking, RegExp[]> = {
  saved: [/^(?!observed).*(saved.*(us|ms|time|seconds)$|time.*saved)/i, /^(?!observed).*saved/i],
  waste: [/wast/i, /outdated|discarded|unused/i],
  observed: [/^observed.*saved/i],
};

/** Entries of a row that are never shown as a column: the table's own key, and the tables, which the drawer lists. */
const NOT_IN_THE_TABLE = new Set(['key', 'Tables']);

/**
 * Columns with figures of a cache that only observes. They are not shown in one table with those of a cache that
 * serves.
 */
const IS_OBSERVED = /^observed/i;
const BESIDE_OBSERVED = /^(query|executions|not_cached|reasons|digest)$/i;

/**
 * The columns to show, in order: the statement, the column `first`, other figures, words, and last the digest, which
 * people do not read. `first` also decides whether figures of observing or of serving are shown.
 */
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
 * Columns that the table leaves to the drawer, so that it has room for the statement. Columns of a newer engine, which
 * are not named here, are shown in the table.
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

/**
 * The columns of the table, in order: those of `columnNames` without those that only the drawer shows. `first` is the
 * column that comes first and is always shown.
 */
export function tableColumns(rows: QueryRow[], first?: string): string[] {
  return columnNames(rows, first).filter((name) => name === first || !IN_THE_DRAWER.has(name));
}

function allNames(rows: QueryRow[]): string[] {
  return [...new Set(rows.flatMap((row) => Object.keys(row)))].filter((name) => !NOT_IN_THE_TABLE.has(name));
}

/** True if every row that has a value in this column has a number. Digests do not count as numbers. */
export function isNumeric(rows: QueryRow[], name: string): boolean {
  if (/digest/i.test(name)) return false;
  const values = rows.map((row) => row[name]).filter((value) => value !== null && value !== undefined);
  return values.length > 0 && values.every((value) => /^-?\d+(\.\d+)?$/.test(String(value)));
}

/** The column that a ranking sorts these rows by. Undefined if the engine does not report such a column. */
export function rankColumn(rows: QueryRow[], ranking: Ranking): string | undefined {
  const names = allNames(rows).filter((name) => isNumeric(rows, name));
  return RANKED[ranking].flatMap((pattern) => names.find((name) => pattern.test(name)) ?? [])[0];
}

/** The rows with a value above 0 in this column, the greatest first. All rows, as they are, without a column. */
export function ranked(rows: QueryRow[], column: string | undefined): QueryRow[] {
  if (!column) return rows;
  const worth = (row: QueryRow) => Number(row[column] ?? 0);
  return rows.filter((row) => worth(row) > 0).sort((a, b) => worth(b) - worth(a));
}

/** True if the engine has observed any of these statements while the cache was off. */
export function hasObserved(rows: QueryRow[]): boolean {
  return rows.some((row) => Number(row.Observed_requests ?? 0) > 0);
}

/**
 * The ranking before the user has chosen one: by the time that the cache would save if it is being observed, or was
 * observed and has answered nothing yet; otherwise by the time that it saves.
 */
export function usualRanking(rows: QueryRow[], isObserving: boolean): Ranking {
  const hasServed = rows.some((row) => Number(row.Hits ?? 0) > 0);
  return hasObserved(rows) && (isObserving || !hasServed) ? 'observed' : 'saved';
}

/**
 * The figures of a statement for the drawer. A figure that the engine does not report is 0; `ratio` is null if the
 * statement was never executed.
 */
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

/**
 * Why executions of the statement were not answered from the cache, with their numbers: parses `changed=3,
 * table_unknown=1`.
 */
export function reasonsOf(row: QueryRow): { name: string; count: number }[] {
  const names = (row.Reasons ?? '').split(', ').filter(Boolean);
  return names.map((text) => {
    const [name = '', count] = text.split('=');
    return { name, count: Number(count) };
  });
}

/** The tables that the statement reads, as `schema.table`. Empty if the engine does not report them. */
export function tablesOf(row: QueryRow): string[] {
  return (row.Tables ?? '').split(', ').filter(Boolean);
}

/** The schema of the statement's tables. Undefined if they are in several schemas, or if none are known. */
export function schemaOf(row: QueryRow): string | undefined {
  const schemas = new Set(tablesOf(row).map((table) => table.split('.')[0]));
  return schemas.size === 1 ? [...schemas][0] : undefined;
}

/**
 * True if the statement, as the engine reports it, has `?` instead of literals. Without any, it can be run as it is.
 */
export function hasLiterals(shape: string): boolean {
  return shape.includes('?');
}

/**
 * True if the row is about one statement. False for the row that sums up all statements without a row of their own: its
 * digest is all zeros.
 */
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

/**
 * The heading of a column from its name: `TIME_SAVED_US` -> `Time saved`. The unit is dropped, because each formatted
 * value has it.
 */
export function readableColumn(name: string): string {
  const words = name
    .replace(/[_ ](us|ms|seconds)$/i, '')
    .toLowerCase()
    .replaceAll('_', ' ');
  return words.charAt(0).toUpperCase() + words.slice(1);
}

/** A value formatted by the unit at the end of its column's name, such as `_us`. Without one, a plain number. */
export function readableFigure(name: string, value: string, t: Translate): string {
  const format = UNITS.find(([suffix]) => suffix.test(name))?.[1];
  return format ? format(Number(value), t) : formatCompact(Number(value));
}

/**
 * How much a near cache could answer, for a server without the engine: `read_time_ratio` (0 to 1) is the reads' share
 * of the time of all statements; of the `sampled` recent reads, `repeated` have the same text as another one.
 */
export type Estimate = components['schemas']['StatementEstimate'];

/** The texts for each verdict. There are none if a near cache may well pay, or if nothing is known of the reads. */
const VERDICT_TEXTS = {
  little_time: ['queries.estimate.littleTime'],
  small_sample: ['queries.estimate.few'],
  few_repeat: ['queries.estimate.hardly'],
  unknown: [],
  may_pay: [],
} as const;

export function estimateText(
  { read_time_ratio: reads, sampled, repeated, verdict }: Estimate,
  t: Translate,
): string {
  const ratio = formatPercent((repeated / Math.max(sampled, 1)) * 100);
  const texts =
    sampled === 0
      ? t('queries.estimate.noTexts')
      : t('queries.estimate.repeated', { sampled: String(sampled), ratio });
  const words = VERDICT_TEXTS[verdict].map((key) => t(key));
  return [t('queries.estimate.reads', { ratio: formatPercent(reads * 100) }), texts, ...words].join(' ');
}
