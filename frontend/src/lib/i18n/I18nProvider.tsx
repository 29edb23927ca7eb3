// Provides the language. English is part of the first load, the second language is loaded on demand.
import { useCallback, useEffect, useMemo, useState, type ReactNode } from 'react';
import { readPreference, writePreference } from '../storage';
import { I18nContext, LANGUAGES, localeOf, type Language } from './context';
import { english } from './english';
import { toldBy, type ToldWords } from './told';
import { interpolate, type Messages, type Params } from './translate';

interface Words {
  messages: Messages;
  told: ToldWords;
}

const ENGLISH: Words = { messages: english, told: {} };

function initialLanguage(): Language {
  const stored = readPreference('language');
  if (stored && stored in LANGUAGES) return stored as Language;
  return navigator.language.toLowerCase().startsWith('zh') ? 'zh-CN' : 'en';
}

async function loadWords(language: Language): Promise<Words> {
  if (language === 'en') return ENGLISH;
  const [{ zh }, { zhTold }] = await Promise.all([import('./zh'), import('./zhTold')]);
  return { messages: zh, told: zhTold };
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
      told: toldBy(loaded.words.told, loaded.language),
    }),
    [loaded, choose],
  );
  return <I18nContext value={value}>{children}</I18nContext>;
}
