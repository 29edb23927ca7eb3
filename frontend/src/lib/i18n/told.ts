// Words that the API and the engine send in English, under stable names that come with them. English shows them as they
// are sent; another language has its own, and shows as it is sent what it does not know.
import { interpolate, type Params } from './translate';

export type ToldWords = Record<string, string>;

/** The words of that name in the viewer's language, or else what was said. */
export type Told = (name: string, said: string, values?: Params) => string;

export function toldBy(words: ToldWords, locale: string): Told {
  return (name, said, values = {}) => {
    const own = words[name];
    return own === undefined ? said : interpolate(own, values, locale);
  };
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
