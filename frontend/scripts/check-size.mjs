// Fails when the first load of the console (entry, styles and the fleet page) exceeds
// the budget. Fonts are not counted: text
// shows without them. Run after `npm run build`.
import { readFileSync } from 'node:fs';
import { brotliCompressSync } from 'node:zlib';

const BUDGET_BYTES = 230_000;
const DIST = new URL('../dist/', import.meta.url);
const FIRST_CHUNKS = ['index', 'fleet'];

const manifest = JSON.parse(readFileSync(new URL('.vite/manifest.json', DIST), 'utf8'));

/** A chunk and everything it imports statically. */
function closure(key, seen = new Set()) {
  if (seen.has(key)) return seen;
  seen.add(key);
  for (const next of manifest[key].imports ?? []) closure(next, seen);
  return seen;
}

const first = Object.keys(manifest).filter((key) => FIRST_CHUNKS.includes(manifest[key].name));
if (first.length !== FIRST_CHUNKS.length) throw new Error(`The build has other chunks than ${FIRST_CHUNKS}.`);
const chunks = new Set(first.flatMap((key) => [...closure(key)]));
const files = new Set([...[...chunks].map((key) => manifest[key].file), manifest['style.css'].file]);
const sizes = [...files].map((file) => [file, brotliCompressSync(readFileSync(new URL(file, DIST))).length]);
const total = sizes.reduce((sum, [, size]) => sum + size, 0);

for (const [file, size] of sizes.sort((a, b) => b[1] - a[1])) console.log(String(size).padStart(8), file);
console.log(`first load: ${total} of ${BUDGET_BYTES} bytes as browsers receive them (brotli)`);
if (total > BUDGET_BYTES) {
  console.error('Over budget: load on demand what the fleet page does not need, or drop it.');
  process.exit(1);
}
