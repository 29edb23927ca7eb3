/**
 * Wraps `make` so that it runs once for each locale; later calls return the same object. Creating a formatter costs far
 * more than formatting with it.
 */
export function byLocale<T>(make: (locale: string) => T): (locale: string) => T {
  const made = new Map<string, T>();
  return (locale) => {
    const found = made.get(locale) ?? make(locale);
    made.set(locale, found);
    return found;
  };
}
