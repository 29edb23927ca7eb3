// What has no pass and no fail: figures, for people to read. On a stack of its own, like the tests.
import { defineConfig } from '@playwright/test';
import tests from './playwright.config';

export default defineConfig({
  ...tests,
  testDir: 'measure',
  testMatch: /\.measure\.ts$/,
  projects: undefined,
  workers: 1,
});
