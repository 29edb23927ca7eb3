// Builds the console into dist/, which the backend serves from its own origin.
// In development the API of a running backend is proxied, so that cookies and CSRF behave as in production.
import { fileURLToPath } from 'node:url';
import react from '@vitejs/plugin-react';
import { defineConfig } from 'vitest/config';
import { compressed } from './build/compressed.ts';

// Where requests of the API are forwarded. The host stays as the browser sent it: the backend compares it with the
// origin of every write.
const backend = { target: process.env.FQC_BACKEND_URL ?? 'http://127.0.0.1:8000', changeOrigin: false };

// The folder for the reports of the tests, or undefined if none are to be written.
const reports = process.env.FQC_TEST_REPORTS;

const matches = (...parts: string[]) => {
  const pattern = new RegExp(parts.join('|'));
  return (id: string) => pattern.test(id);
};

/**
 * Returns true for modules of the chunk of charts: Recharts, the packages that only it needs, and what draws with it.
 */
const isOfCharts = matches(
  'node_modules/(recharts|victory-vendor|d3-|@reduxjs|redux|react-redux|immer|reselect|decimal|es-toolkit|eventemitter3)',
  'src/charts/(ChartPanel|TimeChart|CurveChart|ChartTooltip|ZoomArea|NearestPoint|AnnotationMark|chartExport)',
);
/** Returns true for modules of the chunk of forms: fields and dialogs, which the first page does not show. */
const isOfForms = matches(
  'node_modules/(react-number-format|react-remove-scroll)',
  '@mantine/core/esm/components/(Autocomplete|Combobox|Drawer|FloatingIndicator|Modal|MultiSelect|NumberInput|Pill|PasswordInput|Progress|Radio|SegmentedControl|Select|Stepper|Switch|Tabs|Textarea|Timeline)',
  'src/components/(AllowRestart|ChangeLines|CheckPanel|ConfirmModal|EndpointFields|FindingList|FormModal|NotCachedReasons)',
  'src/app/(KeysHelp|Palette|paletteEntries)',
  'src/components/(Recommendation|ShownOnce|Statements|TagsField|TimingPicker)',
);
const isShared = matches(
  'rolldown/runtime',
  'node_modules',
  'src/(api|app|charts|components)/',
  'src/lib/(?!i18n/(zh|enPages))',
);

/**
 * Returns the name of a feature's chunk, which is that of its folder, or null for other modules. The form of a new
 * instance gets none, so that the first page is small.
 */
const featureOf = (id: string) => /src\/features\/(\w+)\/(?!AddInstance)/.exec(id)?.[1] ?? null;

// The groups of modules that become one chunk each. A group includes what its modules import, so what every page needs
// comes first.
const groups = [
  { name: 'base', test: (id: string) => isShared(id) && !isOfCharts(id) && !isOfForms(id), priority: 4 },
  { name: 'forms', test: isOfForms, priority: 3 },
  { name: 'charts', test: isOfCharts, priority: 2 },
  {
    debugName: 'features',
    name: (id: string) => featureOf(id),
    priority: 1,
  },
];

export default defineConfig({
  plugins: [react(), compressed()],
  resolve: { alias: { '@': fileURLToPath(new URL('./src', import.meta.url)) } },
  server: { host: '127.0.0.1', proxy: { '/api': backend, '/readyz': backend } },
  build: {
    target: 'es2023',
    manifest: true,
    sourcemap: false,
    // A phone's line pays more for each request than for what it does not need yet: one file of styles, and few of
    // code.
    cssCodeSplit: false,
    chunkSizeWarningLimit: 800,
    rolldownOptions: { output: { codeSplitting: { groups } } },
  },
  test: {
    include: ['src/**/*.test.ts', 'src/**/*.test.tsx'],
    environment: 'node',
    reporters: reports ? ['default', 'junit'] : ['default'],
    outputFile: reports && { junit: `${reports}/vitest.xml` },
    // A limit, not an expectation: a build machine is shared.
    testTimeout: 120_000,
    hookTimeout: 120_000,
  },
});
