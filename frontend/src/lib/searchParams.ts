// Reads search parameters. Unexpected values are dropped, so that a hand-edited address never breaks a page.

export type RawSearch = Record<string, unknown>;

/** The parameter as text; undefined if it is missing, empty or an object. */
export function textParam(raw: RawSearch, name: string): string | undefined {
  const value = raw[name];
  if (typeof value === 'number' || typeof value === 'boolean') return String(value);
  return typeof value === 'string' && value !== '' ? value : undefined;
}

export function choiceParam<T extends string>(
  raw: RawSearch,
  name: string,
  choices: readonly T[],
): T | undefined {
  return choices.find((choice) => choice === raw[name]);
}

/** The parameter as a number; undefined if it is missing or not finite. */
export function numberParam(raw: RawSearch, name: string): number | undefined {
  const value = Number(raw[name]);
  return raw[name] !== undefined && Number.isFinite(value) ? value : undefined;
}

/** The parameter if it is a valid date as YYYY-MM-DD, the format of date inputs; otherwise undefined. */
export function dayParam(raw: RawSearch, name: string): string | undefined {
  const value = textParam(raw, name);
  return value && /^\d{4}-\d{2}-\d{2}$/.test(value) && !Number.isNaN(Date.parse(value)) ? value : undefined;
}

/** True if the parameter is `true` or 1; otherwise undefined, so that the address stays short. */
export function flagParam(raw: RawSearch, name: string): true | undefined {
  return raw[name] === true || raw[name] === 'true' || raw[name] === 1 ? true : undefined;
}
