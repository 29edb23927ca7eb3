// A custom machine size, as an alternative to a class. Pure.
import { parseBytes } from './bytes';

/** The choice that stands for a custom size. No class has this name, since class names have no blanks. */
export const CUSTOM = 'custom size';
/** The default of `max_connections`, for servers that were not configured otherwise. */
const USUAL_CONNECTIONS = 151;

export function isSizeUnreadable(text: string): boolean {
  return text.trim() !== '' && parseBytes(text) === undefined;
}

/** The size as the API takes it; undefined while a number is missing. */
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
