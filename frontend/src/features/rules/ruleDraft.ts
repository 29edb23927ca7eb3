// Rules as they are being edited: every field a text or empty, in their order. Pure.
import type { components } from '@/api/schema.gen';
import type { RulesSearch } from './search';

export type Rule = components['schemas']['Rule'];
export type RuleError = components['schemas']['RuleError'];

export const MATCHES = ['digest', 'table', 'schema', 'account'] as const;
export const ACTIONS = ['never', 'always', 'normal'] as const;
const USUAL_SECONDS = 10;

export interface RuleRow {
  /** The identity of the row, which stays the same when the row moves. */
  key: number;
  digest: string;
  table: string;
  schema: string;
  account: string;
  cache: Rule['cache'];
  ttl: number | '';
}

export function rowOf(rule: Partial<Rule>, key: number): RuleRow {
  const { digest, table, schema, account, cache = 'never', ttl } = rule;
  return {
    key,
    digest: digest ?? '',
    table: table ?? '',
    schema: schema ?? '',
    account: account ?? '',
    cache,
    ttl: ttl ?? (cache === 'always' ? USUAL_SECONDS : ''),
  };
}

/** The rows of the existing rules. A proposed rule comes first, because an earlier rule might match the same statements. */
export function rowsOf(rules: Rule[], proposed: RulesSearch): RuleRow[] {
  const { digest, table, cache, ttl } = proposed;
  const added = cache && (digest ?? table) ? [{ digest, table, cache, ttl }] : [];
  return [...added, ...rules].map(rowOf);
}

export type RuleDraft = Partial<Omit<Rule, 'cache'>> & { cache: string };

/** The rules of the rows. Empty fields are left out, and a TTL is only sent with `always`. */
export function rulesOf(rows: RuleRow[]): RuleDraft[] {
  return rows.map((row) => {
    const matches = MATCHES.flatMap((name) => (row[name].trim() ? [[name, row[name].trim()] as const] : []));
    const hasTime = row.cache === 'always' && row.ttl !== '';
    return { ...Object.fromEntries(matches), cache: row.cache, ...(hasTime && { ttl: Number(row.ttl) }) };
  });
}

export function isSame(rows: RuleRow[], rules: Rule[]): boolean {
  const written = (list: RuleRow[]) => JSON.stringify(rulesOf(list));
  return written(rows) === written(rules.map(rowOf));
}

export function movedUp(rows: RuleRow[], index: number): RuleRow[] {
  const row = rows[index];
  if (!row || index === 0) return rows;
  const others = rows.filter((_, at) => at !== index);
  return [...others.slice(0, index - 1), row, ...others.slice(index - 1)];
}

/** The error of a row's field; an empty field means the error of the row as a whole. */
export function errorAt(errors: RuleError[], index: number, field: string): RuleError | undefined {
  return errors.find((error) => error.index === index && error.field === field);
}
