// Words that the API and the engine send in English, under stable names that come with them. English shows them as they
// are sent; another language has its own, and shows as it is sent what it does not know.
import { interpolate, placeholders, type Params } from './translate';

export type ToldWords = Record<string, string>;

/** The words of that name in the viewer's language; or else, or without a value that these need, what was said. */
export type Told = (name: string, said: string, values?: Params) => string;

export function toldBy(words: ToldWords, locale: string): Told {
  return (name, said, values = {}) => {
    const own = words[name];
    const isWhole = own !== undefined && placeholders(own).every((value) => value in values);
    return isWhole ? interpolate(own, values, locale) : said;
  };
}

/** Facts of a finding, or lists of them, where these are words. */
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

/** The same metric with its title and formula in the viewer's language. */
export function toldMetric<M extends MetricWords>(told: Told, metric: M): M {
  return {
    ...metric,
    title: told(`metric.${metric.name}`, metric.title),
    formula: told(`formula.${metric.name}`, metric.formula),
  };
}

/** Why a field was refused: a word in the viewer's language, with the sentence that has the limits. */
export function toldField(told: Told, { code, detail }: { code: string; detail: string }): string {
  const own = told(`field.${code}`, '') || told(`finding.${code}`, '');
  return own ? `${own} (${detail})` : detail;
}
