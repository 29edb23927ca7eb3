// End to end: the real stack (web, worker, scheduler, MariaDB servers) in the system's Chromium.
// `npm run build` first; the stack serves dist/. See e2e/stack.ts for what starts it.
import { existsSync } from 'node:fs';
import { defineConfig } from '@playwright/test';
import { SESSION_FILE, WORKERS } from './e2e/session';

/**
 * Tests that run alone: they change settings for all users, need a table of 10 000 instances, or fill in forms that the
 * settings of another test would reload.
 */
const ALONE = /(channels|drafts|many|second-person|settings)\.spec\.ts$/;

/**
 * The names of Chromium's executable, in order of preference. The build without windows comes first, because it takes a
 * third less of the processor.
 */
const CHROMIUMS = ['chromium-headless-shell', 'chromium', 'chromium-browser', 'google-chrome'];

/** The folder for the reports of the tests, or undefined if none are to be written. */
const REPORTS = process.env.FQC_TEST_REPORTS;

export default defineConfig({
  testDir: 'e2e',
  globalSetup: './e2e/stack.ts',
  // Each worker has two servers of its own (e2e/console.ts); what a whole stack has once is tested after them, alone.
  // As their teardown, since that runs whether they failed or not; what depends on them would not.
  workers: WORKERS,
  projects: [
    { name: 'beside others', testIgnore: ALONE, teardown: 'alone' },
    { name: 'alone', testMatch: ALONE, workers: 1 },
  ],
  // Limits, not expectations: a build machine is shared, and a condition that comes late is not a failure.
  timeout: 600_000,
  expect: { timeout: 90_000 },
  reporter: REPORTS ? [['list'], ['junit', { outputFile: `${REPORTS}/playwright.xml` }]] : [['list']],
  use: {
    // Set by the global set-up, before the workers read this file.
    baseURL: process.env.FQC_E2E_URL,
    storageState: SESSION_FILE,
    viewport: { width: 1440, height: 900 },
    locale: 'en-GB',
    // What an action waits for comes as soon as what an expectation waits for, or never.
    actionTimeout: 90_000,
    // Pictures of each step would cost a fifth of the whole run, and copies of the page a twelfth.
    trace: { mode: 'retain-on-failure', screenshots: false, snapshots: false },
    screenshot: 'only-on-failure',
    launchOptions: {
      executablePath:
        process.env.FQC_E2E_CHROMIUM ?? CHROMIUMS.map((name) => `/usr/bin/${name}`).find(existsSync),
      args: ['--no-sandbox'],
    },
  },
});
