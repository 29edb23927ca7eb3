// Message formatting: `{name}` inserts a value, `{count|one form|other form}` picks by plural rule.
// Deliberately absent: nested messages and markup; a sentence that needs a link is two messages.
import { byLocale } from '../byLocale';
import type { MessageKey } from './en';

export type Messages = Record<MessageKey, string>;
export type Params = Record<string, string | number>;

const pluralRules = byLocale((locale) => new Intl.PluralRules(locale));
const numbers = byLocale((locale) => new Intl.NumberFormat(locale));
const PLACEHOLDER = /\{(\w+)(?:\|([^|}]*)\|([^}]*))?\}/g;

/** The names of the values that a message inserts, in order, with repetitions. */
export function placeholders(message: string): string[] {
  return [...message.matchAll(PLACEHOLDER)].map(([, name = '']) => name);
}

/** Inserts `params` into a message, numbers in the locale's format. A placeholder without a value stays as it is. */
export function interpolate(message: string, params: Params, locale: string): string {
  return message.replace(PLACEHOLDER, (whole, name: string, one?: string, other?: string) => {
    const value = params[name];
    if (value === undefined) return whole;
    if (one !== undefined && other !== undefined) {
      return pluralRules(locale).select(Number(value)) === 'one' ? one : other;
    }
    return typeof value === 'number' ? numbers(locale).format(value) : value;
  });
}
