// A machine's own size, in place of a class. Pure.
import { parseBytes } from './bytes';

/** In place of a class's name. No class has it: names have no blanks. */
export const CUSTOM = 'custom size';
/** What servers allow that were never told a number. */
const USUAL_CONNECTIONS = 151;

export function isSizeUnreadable(text: string): boolean {
  return text.trim() !== '' && parseBytes(text) === undefined;
}

/** What the API takes; undefined as long as a number is missing. */
export function customSize(
  memory: string,
  cpus: number | '' | null | undefined,
  connections?: number | null,
  /** A server does not report its storage. Empty means unknown. */
  storage = '',
) {
  const bytes = parseBytes(memory);
  if (bytes === undefined || !cpus || isSizeUnreadable(storage)) return undefined;
  return {
    memory_bytes: Number(bytes),
    cpu_count: cpus,
    max_connections: connections ?? USUAL_CONNECTIONS,
    storage_bytes: storage.trim() === '' ? null : Number(parseBytes(storage)),
  };
}
