// Builds the console into dist/, which the backend serves from its own origin.
// In development the API of a running backend is proxied, so that cookies and CSRF behave as in production.
import { fileURLToPath } from 'node:url';
import react from '@vitejs/plugin-react';
import { defineConfig } from 'vitest/config';

// The host stays as the browser sent it: the backend compares it with the origin of every write.
const backend = { target: process.env.FQC_BACKEND_URL ?? 'http://127.0.0.1:8000', changeOrigin: false };

// The folder for reports of a whole check.
const reports = process.env.FQC_TEST_REPORTS;

export default defineConfig({
  plugins: [react()],
  resolve: { alias: { '@': fileURLToPath(new URL('./src', import.meta.url)) } },
  server: { host: '127.0.0.1', proxy: { '/api': backend, '/readyz': backend } },
  build: { target: 'es2023', manifest: true, sourcemap: false },
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
