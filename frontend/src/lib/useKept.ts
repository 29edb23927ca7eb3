// What was typed into a long form, kept for the browser tab: a reload, a detour or an ended session loses nothing.
// Never for secrets.
import { useCallback, useState } from 'react';

function read<T>(key: string): T | undefined {
  try {
    const kept = window.sessionStorage.getItem(key);
    return kept === null ? undefined : (JSON.parse(kept) as T);
  } catch {
    return undefined;
  }
}

function write(key: string, value: unknown): void {
  try {
    if (value === undefined) window.sessionStorage.removeItem(key);
    else window.sessionStorage.setItem(key, JSON.stringify(value));
  } catch {
    // Without storage it lasts as long as the page.
  }
}

type Kept<T> = [value: T, change: (next: (old: T) => T) => void, forget: () => void];

/** As `useState`, for as long as the tab; `forget` once it was sent. The name carries whatever makes a form another one. */
export function useKept<T>(name: string, initial: () => T): Kept<T> {
  const key = `fqc.form.${name}`;
  const [value, setValue] = useState<T>(() => read<T>(key) ?? initial());
  const change = useCallback(
    (next: (old: T) => T) =>
      setValue((old) => {
        const changed = next(old);
        write(key, changed);
        return changed;
      }),
    [key],
  );
  const forget = useCallback(() => write(key, undefined), [key]);
  return [value, change, forget];
}
