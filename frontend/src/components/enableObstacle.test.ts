import { expect, test } from 'vitest';
import type { Finding } from '@/api/changes';
import { enableObstacle } from './enableObstacle';

function finding(code: string, severity: Finding['severity'] = 'blocking'): Finding {
  return { code, severity, parameter: '', seen: code, needed: '', remedy: '', action: null } as Finding;
}

test.each(['no_engine_there', 'engine_idle'])('%s keeps the cache from being enabled', (code) => {
  const found = [finding('engine_line', 'notice'), finding(code), finding('dedicated_proxy')];
  expect(enableObstacle(found)?.code).toBe(code);
});

test('what can be mended in the guided flow leaves the button', () => {
  expect(enableObstacle([finding('minor_version'), finding('dedicated_proxy')])).toBeUndefined();
  expect(enableObstacle(undefined)).toBeUndefined();
});
