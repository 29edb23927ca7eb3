// Translates texts that the API and the engine send in English together with stable names. English shows the texts as
// sent; another language translates them by name, and shows an unknown text as sent.
import { interpolate, placeholders, type Params } from './translate';

/** Translations into one language, by the stable names of the texts that the API and the engine send in English. */
export type ToldWords = Record<string, string>;

/**
 * Returns the translation of a text that the API sent: `name` is its stable name, `said` the English text as sent,
 * `values` what the translation inserts. Returns `said` if there is no translation, or if a value that it needs is
 * missing.
 */
export type Told = (name: string, said: string, values?: Params) => string;

/** The translating function for a language, from its texts by name. Without any texts it returns everything as sent. */
export function toldBy(words: ToldWords, locale: string): Told {
  return (name, said, values = {}) => {
    const own = words[name];
    const isWhole = own !== undefined && placeholders(own).every((value) => value in values);
    return isWhole ? interpolate(own, values, locale) : said;
  };
}

/**
 * A copy of a finding's facts in the viewer's language. A value that is a list (`a, b`) is translated item by item;
 * values without a translation, such as numbers, stay.
 */
export function toldFacts(told: Told, facts: Record<string, string>): Record<string, string> {
  const word = (name: string, value: string) => told(`fact.${name}.${value}`, value);
  return Object.fromEntries(
    Object.entries(facts).map(([name, value]) => {
      const whole = word(name, value);
      const parts = value.split(', ').map((part) => word(name, part));
      return [name, whole === value ? parts.join(', ') : whole];
    }),
  );
}

interface MetricWords {
  name: string;
  title: string;
  formula: string;
}

/** A copy of the metric with its title and formula in the viewer's language, or as sent if there is no translation. */
export function toldMetric<M extends MetricWords>(told: Told, metric: M): M {
  return {
    ...metric,
    title: told(`metric.${metric.name}`, metric.title),
    formula: told(`formula.${metric.name}`, metric.formula),
  };
}

/**
 * Why a field was rejected, in the viewer's language, followed by the API's English sentence in parentheses, which has
 * the limits. Only that sentence if the code has no translation.
 */
export function toldField(told: Told, { code, detail }: { code: string; detail: string }): string {
  const own = told(`field.${code}`, '') || told(`finding.${code}`, '');
  return own ? `${own} (${detail})` : detail;
}
