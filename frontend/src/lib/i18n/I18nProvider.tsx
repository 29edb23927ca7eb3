// Holds the language. English is in the first load, the second language comes on demand.
import { useCallback, useEffect, useMemo, useState, type ReactNode } from 'react';
import { readPreference, writePreference } from '../storage';
import { I18nContext, LANGUAGES, type Language } from './context';
import { en } from './en';
import { interpolate, type Messages, type Params } from './translate';

function initialLanguage(): Language {
  const stored = readPreference('language');
  if (stored && stored in LANGUAGES) return stored as Language;
  return navigator.language.toLowerCase().startsWith('zh') ? 'zh-CN' : 'en';
}

async function loadMessages(language: Language): Promise<Messages> {
  return language === 'en' ? en : (await import('./zh')).zh;
}

export function I18nProvider({ children }: { children: ReactNode }) {
  const [language, setLanguage] = useState(initialLanguage);
  const [loaded, setLoaded] = useState<{ language: Language; messages: Messages }>({
    language: 'en',
    messages: en,
  });

  useEffect(() => {
    let current = true;
    void loadMessages(language).then((messages) => {
      if (!current) return;
      setLoaded({ language, messages });
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
      setLanguage: choose,
      t: (key: keyof Messages, params: Params = {}) =>
        interpolate(loaded.messages[key], params, loaded.language),
    }),
    [loaded, choose],
  );
  return <I18nContext value={value}>{children}</I18nContext>;
}
