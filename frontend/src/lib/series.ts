/** The newest value of a series; the last bucket is often still empty. */
export function lastPresent(values: readonly (number | null)[] | undefined): number | null {
  return values?.findLast((value) => value !== null) ?? null;
}
