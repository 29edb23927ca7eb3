// A part of the tests, for a machine that is too slow for all of them: backend/testing/slices.py says how it is chosen.
import { createHash } from 'node:crypto';
import { readdirSync } from 'node:fs';

/** The files of tests that the slice leaves out. Without one: none. */
export function leftOut(asked = process.env.FQC_TEST_SLICE ?? '1:', folder = import.meta.dirname): string[] {
  const [parts, seed] = asked.split(':');
  const digest = (file: string) => createHash('sha256').update(`${seed} ${file}`).digest('hex');
  const files = readdirSync(folder)
    .filter((file) => file.endsWith('.spec.ts'))
    .map((file) => ({ file, digest: digest(file) }))
    .sort((one, other) => one.digest.localeCompare(other.digest));
  return files.slice(Math.ceil(files.length / Number(parts))).map(({ file }) => file);
}
