// Rules as they are being edited: every field a text or empty, in their order. Pure.
import type { components } from '@/api/schema.gen';
import type { RulesSearch } from './search';

export type Rule = components['schemas']['Rule'];
export type RuleError = components['schemas']['RuleError'];

export const MATCHES = ['digest', 'table', 'schema', 'account'] as const;
export const ACTIONS = ['never', 'always', 'normal'] as const;
const USUAL_SECONDS = 10;

/** A rule as a row of inputs. An empty field is no condition; `ttl` is in seconds. */
export interface RuleRow {
  /** A number that identifies the row for React, also after it has moved. */
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

/**
 * The rows of the existing rules, preceded by the one that another page proposed, if any: the first rule that matches a
 * statement decides.
 */
export function rowsOf(rules: Rule[], proposed: RulesSearch): RuleRow[] {
  const { digest, table, cache, ttl } = proposed;
  const added = cache && (digest ?? table) ? [{ digest, table, cache, ttl }] : [];
  return [...added, ...rules].map(rowOf);
}

export type RuleDraft = Partial<Omit<Rule, 'cache'>> & { cache: string };

/** The rules that the rows stand for. Empty fields are left out, and so is a TTL without `always`. */
export function rulesOf(rows: RuleRow[]): RuleDraft[] {
  return rows.map((row) => {
    const matches = MATCHES.flatMap((name) => (row[name].trim() ? [[name, row[name].trim()] as const] : []));
    const hasTime = row.cache === 'always' && row.ttl !== '';
    return { ...Object.fromEntries(matches), cache: row.cache, ...(hasTime && { ttl: Number(row.ttl) }) };
  });
}

/** True if the rows stand for exactly these rules, in this order. */
export function isSame(rows: RuleRow[], rules: Rule[]): boolean {
  const written = (list: RuleRow[]) => JSON.stringify(rulesOf(list));
  return written(rows) === written(rules.map(rowOf));
}

/** A copy of the rows with the one at `index` moved up by one; the rows themselves if it is the first. */
export function movedUp(rows: RuleRow[], index: number): RuleRow[] {
  const row = rows[index];
  if (!row || index === 0) return rows;
  const others = rows.filter((_, at) => at !== index);
  return [...others.slice(0, index - 1), row, ...others.slice(index - 1)];
}

/**
 * The error of one field of the row at `index`, or, if `field` is empty, of the row as a whole. Undefined if there is
 * none.
 */
export function errorAt(errors: RuleError[], index: number, field: string): RuleError | undefined {
  return errors.find((error) => error.index === index && error.field === field);
}
