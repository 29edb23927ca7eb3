// Keeps the entries of a form in the browser tab, so that a reload, another page or an ended session loses nothing.
// Secret fields, which the form names, are left out. A log-out forgets everything.
import { useState } from 'react';
import { storeForm, storageKey, readForm } from './storedForms';

type StoredForm<T> = [
  value: T,
  change: (next: (old: T) => T) => void,
  /** Removes the stored entries, after they were submitted or discarded. The shown values stay. */
  forget: () => void,
  /** Empties the form and forgets the stored entries. Undefined unless the form shows restored entries. */
  startOver: (() => void) | undefined,
];

/**
 * Like `useState` for an object, but the fields other than `secrets` are kept in the browser tab and restored when the
 * form opens again. `name` must include everything that distinguishes one form from another, such as the id of the
 * edited object. The owner must call `forget` once the form was submitted or discarded.
 */
export function useStoredForm<T extends object>(
  name: string,
  initial: () => T,
  secrets: readonly (keyof T)[] = [],
): StoredForm<T> {
  const key = storageKey(name);
  const [stored, setStored] = useState(() => readForm<T>(key));
  const [value, setValue] = useState<T>(() => ({ ...initial(), ...stored }));
  const change = (next: (old: T) => T) =>
    setValue((old) => {
      const changed = next(old);
      storeForm(key, changed, secrets);
      return changed;
    });
  const forget = () => {
    storeForm(key, undefined);
    setStored(undefined);
  };
  const startOver = () => {
    forget();
    setValue(initial());
  };
  return [value, change, forget, stored && startOver];
}
