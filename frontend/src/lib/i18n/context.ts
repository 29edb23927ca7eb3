import { createContext, useCallback, useContext } from 'react';
import type { MessageKey } from './en';
import { english } from './english';
import { apiTextTranslator, translateMetric, type TranslateApiText } from './apiTexts';

export type { TranslateApiText };
import { interpolate, type Params } from './translate';

export const LANGUAGES = { en: 'English', 'zh-CN': '简体中文' } as const;
export type Language = keyof typeof LANGUAGES;

/**
 * The viewer's regional variant of the language shown, such as en-GB for English: the first such locale among the
 * browser's `preferred` ones, or the language itself if there is none.
 */
export function localeOf(language: Language, preferred: readonly string[]): string {
  const base = (tag: string) => tag.split('-')[0]?.toLowerCase();
  return preferred.find((tag) => base(tag) === base(language)) ?? language;
}

/** Returns the text of a key in the viewer's language, with `params` inserted. */
export type Translate = (key: MessageKey, params?: Params) => string;

export interface I18n {
  language: Language;
  /** The locale in which dates are formatted: a regional variant of the language, such as en-GB. */
  locale: string;
  setLanguage: (language: Language) => void;
  t: Translate;
  apiText: TranslateApiText;
}

export const englishTranslate: Translate = (key, params = {}) => interpolate(english[key], params, 'en');

export const I18nContext = createContext<I18n>({
  language: 'en',
  locale: 'en',
  setLanguage: () => undefined,
  t: englishTranslate,
  apiText: apiTextTranslator({}, 'en'),
});

export function useI18n(): I18n {
  return useContext(I18nContext);
}

export function useT(): Translate {
  return useContext(I18nContext).t;
}

export function useApiText(): TranslateApiText {
  return useContext(I18nContext).apiText;
}

export function useMetricText(): <M extends Parameters<typeof translateMetric>[1]>(metric: M) => M {
  const apiText = useApiText();
  return useCallback((metric) => translateMetric(apiText, metric), [apiText]);
}
