// Translates texts that the API and the engine send in English together with stable names. English shows the texts as
// sent; another language translates them by name, and shows an unknown text as sent.
import { interpolate, placeholders, type Params } from './translate';

/** Translations into one language, by the stable names of the texts that the API and the engine send in English. */
export type ApiTexts = Record<string, string>;

/**
 * Returns the translation of a text that the API sent: `name` is its stable name, `english` the English text as sent,
 * `values` what the translation inserts. Returns `english` if there is no translation, or if a value that it needs is
 * missing.
 */
export type TranslateApiText = (name: string, english: string, values?: Params) => string;

/** The translating function for a language, from its texts by name. Without any texts it returns everything as sent. */
export function apiTextTranslator(words: ApiTexts, locale: string): TranslateApiText {
  return (name, english, values = {}) => {
    const own = words[name];
    const isWhole = own !== undefined && placeholders(own).every((value) => value in values);
    return isWhole ? interpolate(own, values, locale) : english;
  };
}

/**
 * A copy of a finding's facts in the viewer's language. A value that is a list (`a, b`) is translated item by item;
 * values without a translation, such as numbers, stay.
 */
export function translateFacts(
  apiText: TranslateApiText,
  facts: Record<string, string>,
): Record<string, string> {
  const word = (name: string, value: string) => apiText(`fact.${name}.${value}`, value);
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
export function translateMetric<M extends MetricWords>(apiText: TranslateApiText, metric: M): M {
  return {
    ...metric,
    title: apiText(`metric.${metric.name}`, metric.title),
    formula: apiText(`formula.${metric.name}`, metric.formula),
  };
}

/**
 * Why a field was rejected, in the viewer's language, followed by the API's English sentence in parentheses, which has
 * the limits. Only that sentence if the code has no translation.
 */
export function fieldErrorText(
  apiText: TranslateApiText,
  { code, detail }: { code: string; detail: string },
): string {
  const own = apiText(`field.${code}`, '') || apiText(`finding.${code}`, '');
  return own ? `${own} (${detail})` : detail;
}
