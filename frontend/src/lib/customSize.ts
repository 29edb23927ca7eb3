// A custom machine size, as an alternative to a class. Pure.
import { parseBytes } from './bytes';

/**
 * The choice, in a list of class names, that stands for a custom size. No class has this name, since class names have
 * no blanks.
 */
export const CUSTOM = 'custom size';
/** The server's own default of `max_connections`, for instances whose limit is not given. */
const USUAL_CONNECTIONS = 151;

/** True if text was typed that is no size with a unit. False for an empty field. */
export function isSizeUnreadable(text: string): boolean {
  return text.trim() !== '' && parseBytes(text) === undefined;
}

/**
 * The request for a machine of this size. Undefined while the memory or the number of processors is missing, or a size
 * cannot be read.
 */
export function customSize(
  memory: string,
  cpus: number | '' | null | undefined,
  connections?: number | null,
  /** The typed size of the disk, which the server does not report. Empty means unknown. */
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
