// Every name that the API and the engine use has a translation. The test reads their sources, so that a new name fails
// here.
import { expect, test } from 'vitest';
import { apiTextTranslator, translateFacts, translateMetric } from './apiTexts';
import { placeholders } from './translate';
import { zhApiTexts } from './zhApiTexts';

const SOURCES = import.meta.glob<string>(
  [
    '../../../../backend/openapi.yaml',
    '../../../../backend/controlplane/parameters/system_templates.yaml',
    '../../../../backend/controlplane/*/*.py',
    '../../../../backend/controlplane/alerts/migrations/*.py',
    '../../../../backend/controlplane/parameters/expressions/errors.py',
    '../../../../backend/controlplane/catalogue/lines/5.7.yaml',
    '../../../../backend/controlplane/catalogue/access.yaml',
    '../../../../engine/crates/plugin/src/**/*.rs',
    '!../../../../backend/controlplane/rpc/*.py',
    '../../../../engine/crates/sql/src/refusal.rs',
    '../../../../engine/crates/session/src/reason.rs',
    '../../../../engine/crates/session/src/nears.rs',
    '../../../../engine/crates/insight/src/report.rs',
  ],
  { query: '?raw', import: 'default', eager: true },
);

/** The text of the source file whose path ends like this. Fails if the file was moved. */
function source(end: string): string {
  const [, text] = Object.entries(SOURCES).find(([path]) => path.endsWith(end)) ?? [];
  if (text === undefined) throw new Error(`${end} is not where it was.`);
  return text;
}

/** Returns the distinct texts that the first group of the pattern matches, sorted. */
function named(text: string, pattern: RegExp): string[] {
  return [...new Set([...text.matchAll(pattern)].map(([, name = '']) => name))].sort();
}

/** The values of the enumeration with this name in the API's schema (`openapi.yaml`), sorted. */
function enumOf(name: string): string[] {
  const [, values = ''] =
    new RegExp(`\\n    ${name}:\\n      enum:\\n((?:      - .*\\n)+)`).exec(source('openapi.yaml')) ?? [];
  return named(values, /- (\S+)/g);
}

/** The quoted words of the list that begins with `start` in the text. Fails if the list was renamed or has grown. */
function listOf(text: string, start: string): string[] {
  const from = text.indexOf(start);
  if (from < 0) throw new Error(`${start} is not where it was.`);
  return named(text.slice(from, text.indexOf(']', from + start.length)), /"(\w+)"/g);
}

const backend = Object.entries(SOURCES)
  .filter(([path]) => path.endsWith('.py'))
  .map(([, text]) => text)
  .join('\n');
// Codes of problems in the sources: a problem class (`status, code, title = 409, "conflict", ...`), one of its problems
// (`code="name_taken"`), the default of a status (`404: ("not_found", ...`), or the reason why a change was undone.
// Codes of a moment that is not UTC and of a bad password belong to fields.
const PROBLEM_CODE =
  /(?:^ {4}(?:status, )?code, title.* = (?:\d+, )?|\bcode=(?!"overflow|"password_)|^ {4}\d{3}: \(|\bcode = (?="csrf)|\bundo\(run, (?!"internal))"(\w+)"/gm;
// Codes of findings: a finding (`Severity.ADVICE, "memory_tight"`, on one line or two), a violation of a value, or an
// expression.
const FINDING_CODE =
  /(?:Severity\.\w+(?: if .*)?,\s*|\bseverity,\s*|\b_over\(|\b_not_known\(|\bViolation\(|\b_of_text\(|^ {4}code = (?="expression)|\bcode = (?="zero))"(\w+)"/gm;
const engine = Object.entries(SOURCES)
  .filter(([path]) => path.includes('/plugin/'))
  .map(([, text]) => text)
  .join('\n');

/**
 * The codes of errors of a server. Without `privilege_missing`: a check that met that error has a finding with texts of
 * its own.
 */
function serverErrors(): string[] {
  const found = named(source('gateway/errors.py'), /^ {4}(?:status, )?code, title.* = (?:\d+, )?"(\w+)"/gm);
  return found.filter((code) => code !== 'privilege_missing');
}

const NAMES: Record<string, () => string[]> = {
  metric: () => enumOf('MetricEnum'),
  formula: () => enumOf('MetricEnum'),
  cause: () => named(source('alerts/advice.py'), /^ {4}"(\w+)": Advice\(/gm),
  action: () => named(source('alerts/advice.py'), /^ {4}"(\w+)": Advice\(/gm),
  advice: () => enumOf('AdviceEnum'),
  recommendation: () => enumOf('VerdictEnum'),
  example: () => named(source('prerequisites/example.py'), /= NotFound\(\s*"(\w+)"/g),
  note: () =>
    [
      ...['status.py', 'digests.py'].flatMap((file) =>
        named(source(`prerequisites/${file}`), /\breason="(\w+)"/g),
      ),
      ...named(source('gateway/product.py'), /\bswitch="(\w+)"/g).map((name) => `no_${name}`),
      'privilege_missing',
    ].sort(),
  unit: () =>
    named(
      source('metrics/definitions.py'),
      /"(percent|count|bytes|seconds|milliseconds|[a-z ]*per second)"/g,
    ),
  problem: () => named(backend, PROBLEM_CODE),
  finding: () => named(backend, FINDING_CODE),
  seen: () => named(backend, FINDING_CODE),
  needed: () => [...named(backend, FINDING_CODE), ...serverErrors()].sort(),
  remedy: () => [...named(backend, FINDING_CODE), ...serverErrors()].sort(),
  access: () =>
    [
      ...named(source('access.yaml'), /code: (?!tuning)(\w+)/g),
      ...named(source('access.py'), /Access\(NEVER, "(\w+)"/g),
    ].sort(),
  alertRule: () =>
    [
      '0002_low_hit_ratio.py',
      '0005_state_rules.py',
      '0007_look_rules.py',
      '0008_server_health.py',
      '0009_replication.py',
      '0010_storage.py',
      '0011_row_lock_waits.py',
    ]
      .flatMap((file) => named(source(file), /^ +"name": "([^"]+)"/gm))
      .sort(),
  template: () => named(source('system_templates.yaml'), /^- id: (\S+)/gm),
  rule: () => named(source('rule_list.py'), /^ {4}"(rules?_\w+)": /gm),
  reason: () =>
    [
      ...named(source('reason.rs'), /^ {4}\w+ "(\w+)" "/gm),
      ...named(source('refusal.rs'), /^ {4}\w+, "(\w+)", "/gm),
    ].sort(),
  column: () =>
    [
      ...listOf(source('insight/src/report.rs'), 'QUERIES: [&str; 20] = ['),
      ...listOf(source('insight/src/report.rs'), 'REASONS: [&str; 6] = ['),
      ...named(source('gateway/reports.py'), /^ {4}"(\w+)",$/gm),
    ].sort(),
};

test.each(Object.keys(NAMES))('every %s has its Chinese words, and no other', (kind) => {
  const own = Object.keys(zhApiTexts)
    .filter((key) => key.startsWith(`${kind}.`))
    .map((key) => key.slice(kind.length + 1));
  const names = NAMES[kind]?.() ?? [];
  expect(names.length).toBeGreaterThan(2);
  expect(own.sort()).toEqual(names);
});

// For kinds of names that need no translation in general, a function that returns the names that must have one.
const AT_LEAST: Record<string, () => string[]> = {
  parameter: () => [
    ...named(source('5.7.yaml'), /\{name: (query_cache_\w+)/g),
    ...named(
      engine,
      /\b(?:bytes|global_bool|session_bool|header)\(\s*(?:VAR_[^,]*,\s*)?c"(\w+)"|\bname: c"(type)"/g,
    )
      .filter((name) => name !== '')
      // On MySQL a plugin called `query` has the names that begin with `query_cache_`.
      .map((name) => (name.startsWith('cache_') ? `query_${name}` : `fqc_${name}`)),
  ],
  field: () => named(backend, /\bFieldError\([^,\n]+, "(\w+)"/g),
  met: () => ['engine_line', 'minor_version', 'buffer_pool_hit_ratio'],
};

test.each(Object.keys(AT_LEAST))('every %s that must have Chinese words has them', (kind) => {
  const names = AT_LEAST[kind]?.() ?? [];
  expect(names.length).toBeGreaterThan(2);
  // Returns true if this name has a translation. That of a refused field may be that of a finding with the same code.
  const has = (name: string) =>
    `${kind}.${name}` in zhApiTexts || (kind === 'field' && `finding.${name}` in zhApiTexts);
  expect(names.filter((name) => !has(name))).toEqual([]);
});

test('every reason for which a fleet apply leaves an instance alone has its Chinese words', () => {
  const reasons = named(backend, /ItemState\.SKIPPED, detail="([^"]+)"/g);
  expect(reasons).toContain('aborted');
  expect(reasons.filter((reason) => !(`skipped.${reason}` in zhApiTexts))).toEqual([]);
});

test('whatever keeps the engine or an attached near cache from serving has its Chinese words', () => {
  const obstacles = [
    ...named(source('mysql/obstacles.rs'), /\(Obstacle::\w+, "([^"]+)"\)/g),
    ...named(source('mariadb/product.rs'), /is_cluster_node\(\)\.then_some\("([^"]+)"\)/g),
  ];
  expect(obstacles.some((words) => words.includes('Galera'))).toBe(true);
  obstacles.push(
    ...named(
      source('near_caches/serializers.py'),
      /^(?:SERVER_CACHE_OFF|SERVER_SILENT|NO_LEASE) = "([^"]+)"/gm,
    ),
  );
  const toldByServer = named(source('session/src/nears.rs'), /=> "(the server's [^"]+)"/g);
  expect(toldByServer.length).toBeGreaterThan(1);
  obstacles.push(...toldByServer);
  expect(obstacles.length).toBeGreaterThan(2);
  expect(obstacles.filter((words) => !(`fact.obstacle.${words}` in zhApiTexts))).toEqual([]);
});

test('the words of findings need no fact that the API never sends', () => {
  const sent = [...named(backend, /"(\w+)": /g), 'parameter', 'nearest'];
  const needed = Object.entries(zhApiTexts)
    .filter(([key]) => /^(seen|seenMet|needed|remedy)\./.test(key))
    .flatMap(([, text]) => placeholders(text));
  expect(needed.length).toBeGreaterThan(40);
  expect(needed.filter((name) => !sent.includes(name))).toEqual([]);
});

test('facts that are words are told in words, one by one in a list', () => {
  const apiText = apiTextTranslator(zhApiTexts, 'zh-CN');
  expect(translateFacts(apiText, { names: 'query_cache_size, a restart' }).names).toBe(
    'query_cache_size, 重启',
  );
  expect(translateFacts(apiText, { reason: 'path' }).reason).toBe(zhApiTexts['access.path']);
});

test('words that need a value which did not come leave it as it was said', () => {
  const apiText = apiTextTranslator(zhApiTexts, 'zh-CN');
  expect(apiText('seen.stale_reads', 'by fqc_rules')).toBe('by fqc_rules');
  expect(apiText('seen.near_attached', 'attached: 2', { count: '2', reporting: '1' })).toBe(
    '近端缓存：已连接 2，自行上报 1',
  );
});

test('what has no words of its own stays as it was said', () => {
  const apiText = apiTextTranslator(zhApiTexts, 'zh-CN');
  expect(apiText('unit.percent', 'percent')).toBe('百分比');
  expect(apiText('unit.parsecs', 'parsecs')).toBe('parsecs');
  const metric = { name: 'hits_per_second', title: 'Hits', formula: 'growth of Qcache_hits / seconds' };
  expect(translateMetric(apiText, metric).title).toBe('服务器缓存命中');
  expect(translateMetric(apiTextTranslator({}, 'en'), metric)).toEqual(metric);
});
