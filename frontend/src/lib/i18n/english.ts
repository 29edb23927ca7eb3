// English as far as it is loaded: what the first page says, and all of it once something is loaded on demand.
import { en } from './en';
import type { Messages } from './translate';

export const english = { ...en } as Messages;

/** Code that is loaded on demand, when its words are there, too. */
export async function withWords<T>(code: Promise<T>): Promise<T> {
  const [loaded, { enPages }] = await Promise.all([code, import('./enPages')]);
  Object.assign(english, enPages);
  return loaded;
}
