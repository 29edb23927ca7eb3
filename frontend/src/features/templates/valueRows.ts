// A template's values as editable rows. A row without a name is not part of the template. Pure.
import type { Values } from './api';

export interface ValueRow {
  key: number;
  name: string;
  value: string;
}

export function rowsOf(values: Values): ValueRow[] {
  return Object.entries(values).map(([name, value], key) => ({ key, name, value }));
}

export function valuesOf(rows: ValueRow[]): Values {
  return Object.fromEntries(
    rows.filter(({ name }) => name.trim()).map(({ name, value }) => [name.trim(), value]),
  );
}

export function repeatedName(rows: ValueRow[]): string | undefined {
  const names = rows.map(({ name }) => name.trim()).filter(Boolean);
  return names.find((name, index) => names.indexOf(name) !== index);
}
