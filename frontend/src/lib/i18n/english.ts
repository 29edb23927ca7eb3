// The English texts that are loaded: at first those of the first page; all of them once any other page was loaded.
import { en } from './en';
import type { Messages } from './translate';

export const english = { ...en } as Messages;

/**
 * Waits for the code of a page and for the English texts of all pages, which it adds to `english`, and returns the
 * code.
 */
export async function withWords<T>(code: Promise<T>): Promise<T> {
  const [loaded, { enPages }] = await Promise.all([code, import('./enPages')]);
  Object.assign(english, enPages);
  return loaded;
}
