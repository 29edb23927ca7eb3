// Provides the language. English is part of the first load, the second language is loaded on demand.
import { useCallback, useEffect, useMemo, useState, type ReactNode } from 'react';
import { readPreference, writePreference } from '../storage';
import { I18nContext, LANGUAGES, localeOf, type Language } from './context';
import { english } from './english';
import { apiTextTranslator, type ApiTexts } from './apiTexts';
import { interpolate, type Messages, type Params } from './translate';

interface Words {
  messages: Messages;
  apiText: ApiTexts;
}

const ENGLISH: Words = { messages: english, apiText: {} };

function initialLanguage(): Language {
  const stored = readPreference('language');
  if (stored && stored in LANGUAGES) return stored as Language;
  return navigator.language.toLowerCase().startsWith('zh') ? 'zh-CN' : 'en';
}

async function loadWords(language: Language): Promise<Words> {
  if (language === 'en') return ENGLISH;
  const [{ zh }, { zhApiTexts }] = await Promise.all([import('./zh'), import('./zhApiTexts')]);
  return { messages: zh, apiText: zhApiTexts };
}

export function I18nProvider({ children }: { children: ReactNode }) {
  const [language, setLanguage] = useState(initialLanguage);
  const [loaded, setLoaded] = useState<{ language: Language; words: Words }>({
    language: 'en',
    words: ENGLISH,
  });

  useEffect(() => {
    let current = true;
    void loadWords(language).then((words) => {
      if (!current) return;
      setLoaded({ language, words });
      document.documentElement.lang = language;
    });
    return () => {
      current = false;
    };
  }, [language]);

  const choose = useCallback((next: Language) => {
    writePreference('language', next);
    setLanguage(next);
  }, []);

  const value = useMemo(
    () => ({
      language: loaded.language,
      locale: localeOf(loaded.language, navigator.languages),
      setLanguage: choose,
      t: (key: keyof Messages, params: Params = {}) =>
        interpolate(loaded.words.messages[key], params, loaded.language),
      apiText: apiTextTranslator(loaded.words.apiText, loaded.language),
    }),
    [loaded, choose],
  );
  return <I18nContext value={value}>{children}</I18nContext>;
}
