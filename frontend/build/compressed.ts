// Writes each text file of the built console a second and a third time, compressed, so that a server only has to send
// them.
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { extname, join } from 'node:path';
import { brotliCompressSync, constants, gzipSync } from 'node:zlib';
import type { Plugin } from 'vite';

const TEXTS = new Set(['.js', '.css', '.svg', '.json']);
/** Files with fewer characters are not compressed: they fit into one packet as they are. */
const LEAST_BYTES = 1_000;

const brotli = (text: Buffer) =>
  brotliCompressSync(text, {
    params: {
      [constants.BROTLI_PARAM_QUALITY]: constants.BROTLI_MAX_QUALITY,
      [constants.BROTLI_PARAM_SIZE_HINT]: text.length,
    },
  });

export function compressed(): Plugin {
  let folder = '';
  return {
    name: 'compressed',
    apply: 'build',
    configResolved({ root, build }) {
      folder = join(root, build.outDir);
    },
    closeBundle() {
      for (const name of readdirSync(folder, { recursive: true, encoding: 'utf8' })) {
        if (name.startsWith('.vite') || !TEXTS.has(extname(name))) continue;
        const text = readFileSync(join(folder, name));
        if (text.length < LEAST_BYTES) continue;
        writeFileSync(join(folder, `${name}.br`), brotli(text));
        writeFileSync(join(folder, `${name}.gz`), gzipSync(text, { level: 9 }));
      }
    },
  };
}
