// What was typed into a long form, kept for the browser tab: a reload, a detour or an ended session loses nothing.
// Never secrets: the fields that a form names as such are left out. A log-out forgets everything.
import { useState } from 'react';
import { keep, keyOf, recall } from './keptForms';

type Kept<T> = [
  value: T,
  change: (next: (old: T) => T) => void,
  /** Once it was sent, or given up. */
  forget: () => void,
  /** There only while the form is one that came back from an earlier visit. */
  startOver: (() => void) | undefined,
];

/** As `useState`, for as long as the tab. The name carries whatever makes a form another one. */
export function useKept<T extends object>(
  name: string,
  initial: () => T,
  secrets: readonly (keyof T)[] = [],
): Kept<T> {
  const key = keyOf(name);
  const [recalled, setRecalled] = useState(() => recall<T>(key));
  const [value, setValue] = useState<T>(() => ({ ...initial(), ...recalled }));
  const change = (next: (old: T) => T) =>
    setValue((old) => {
      const changed = next(old);
      keep(key, changed, secrets);
      return changed;
    });
  const forget = () => {
    keep(key, undefined);
    setRecalled(undefined);
  };
  const startOver = () => {
    forget();
    setValue(initial());
  };
  return [value, change, forget, recalled && startOver];
}
