// Lint rules. The import direction is app -> features -> charts, components -> api, lib;
// a feature is one flat folder and never reaches into another one.
import js from '@eslint/js';
import reactHooks from 'eslint-plugin-react-hooks';
import tseslint from 'typescript-eslint';

const forbid = (files, groups, message) => ({
  files: [files],
  rules: { 'no-restricted-imports': ['error', { patterns: [{ group: groups, message }] }] },
});

export default tseslint.config(
  { ignores: ['dist', 'src/api/schema.gen.ts', 'test-results', 'playwright-report'] },
  js.configs.recommended,
  ...tseslint.configs.strict,
  reactHooks.configs.flat['recommended-latest'],
  {
    rules: {
      'max-lines': ['warn', 400],
      'no-console': 'error',
      eqeqeq: 'error',
    },
  },
  {
    files: ['scripts/**', '*.config.*', 'e2e/**', 'measure/**', 'public/**'],
    rules: { 'no-console': 'off', 'no-undef': 'off' },
  },
  {
    files: ['e2e/**'],
    rules: {
      'no-restricted-properties': [
        'error',
        {
          object: 'test',
          property: 'afterEach',
          message: 'It also runs after skipped tests; use `afterwards`.',
        },
      ],
    },
  },
  { files: ['src/lib/i18n/*.ts'], rules: { 'max-lines': 'off' } },
  forbid(
    'src/lib/**',
    ['@/app/*', '@/features/*', '@/charts/*', '@/components/*', '@/api/*'],
    'lib imports nothing above it',
  ),
  forbid('src/api/**', ['@/app/*', '@/features/*', '@/charts/*', '@/components/*'], 'api imports only lib'),
  forbid('src/components/**', ['@/app/*', '@/features/*', '@/charts/*'], 'components are domain-free'),
  forbid('src/charts/**', ['@/app/*', '@/features/*'], 'charts are domain-free'),
  forbid('src/features/**', ['@/app/*', '@/features/*', '../*'], 'features never import app or each other'),
);
