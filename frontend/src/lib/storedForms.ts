// Storage of forms for the lifetime of a browser tab. Blocked storage is no failure: a form then lasts as long as its
// page.

const PREFIX = 'fqc.form.';

/** The storage key of the form with this name. */
export function storageKey(name: string): string {
  return PREFIX + name;
}

/** The stored fields of a form, without its secrets. Undefined if none are stored or storage is blocked. */
export function readForm<T>(key: string): Partial<T> | undefined {
  try {
    const kept = window.sessionStorage.getItem(key);
    return kept === null ? undefined : (JSON.parse(kept) as Partial<T>);
  } catch {
    return undefined;
  }
}

/**
 * Stores a form in the tab's session storage without its fields in `secrets`, or removes it if `value` is undefined.
 * Does nothing if storage is blocked.
 */
export function storeForm<T extends object>(
  key: string,
  value: T | undefined,
  secrets: readonly (keyof T)[] = [],
): void {
  try {
    if (value === undefined) window.sessionStorage.removeItem(key);
    else window.sessionStorage.setItem(key, JSON.stringify(without(value, secrets)));
  } catch {
    // Blocked storage is no failure.
  }
}

function without<T extends object>(value: T, secrets: readonly (keyof T)[]): Partial<T> {
  const pairs = Object.entries(value).filter(([name]) => !secrets.includes(name as keyof T));
  return Object.fromEntries(pairs) as Partial<T>;
}

/** Removes all stored forms. Called at log-out, so that the next user of this tab starts with empty forms. */
export function forgetForms(): void {
  try {
    const keys = Object.keys(window.sessionStorage).filter((key) => key.startsWith(PREFIX));
    keys.forEach((key) => window.sessionStorage.removeItem(key));
  } catch {
    // Blocked storage is no failure.
  }
}
