// The engine names the columns of its statement figures; the table shows whatever it reports. Pure.

export type QueryRow = Record<string, string | null>;

export function columnNames(rows: QueryRow[]): string[] {
  return [...new Set(rows.flatMap((row) => Object.keys(row)))].filter((name) => name !== 'key');
}

export function isNumeric(rows: QueryRow[], name: string): boolean {
  const values = rows.map((row) => row[name]).filter((value) => value !== null && value !== undefined);
  return values.length > 0 && values.every((value) => /^-?\d+(\.\d+)?$/.test(String(value)));
}

/** `TIME_SAVED_US` -> `time saved us`. */
export function readableColumn(name: string): string {
  return name.toLowerCase().replaceAll('_', ' ');
}
