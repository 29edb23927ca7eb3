/** Browsers by patterns of the User-Agent header, tried in this order, for short names such as "Firefox, Linux". */
const BROWSERS: [RegExp, string][] = [
  [/\bEdg/, 'Edge'],
  [/\bOPR\//, 'Opera'],
  [/\b(?:Firefox|FxiOS)\//, 'Firefox'],
  [/\b(?:Headless)?(?:Chrome|CriOS)\//, 'Chrome'],
  [/\bSafari\//, 'Safari'],
];
const SYSTEMS: [RegExp, string][] = [
  [/Windows/, 'Windows'],
  [/iPhone|iPad/, 'iOS'],
  [/Mac OS X/, 'macOS'],
  [/Android/, 'Android'],
  [/Linux/, 'Linux'],
];

export function browserName(agent: string): string {
  const of = (names: [RegExp, string][]) => names.find(([pattern]) => pattern.test(agent))?.[1];
  const found = [of(BROWSERS), of(SYSTEMS)].filter((name) => name !== undefined);
  return found.length > 0 ? found.join(', ') : agent;
}
