// Preferences kept in this browser. Storage may be blocked; then a preference lasts as long as the page.

/** The stored value of a preference; null if there is none or storage is blocked. */
export function readPreference(key: string): string | null {
  try {
    return window.localStorage.getItem(`fqc.${key}`);
  } catch {
    return null;
  }
}

/** Stores a preference for this browser. Does nothing if storage is blocked. */
export function writePreference(key: string, value: string): void {
  try {
    window.localStorage.setItem(`fqc.${key}`, value);
  } catch {
    // Blocked storage is a browser setting, not a failure of the page.
  }
}
