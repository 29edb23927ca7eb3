// Growth of a counter between polls. A counter that went back was reset: growth starts again from there. Pure.

export interface Reading {
  at: number;
  hits: number;
  inserts: number;
}

export const KEPT_READINGS = 60;

export function withReading(readings: Reading[], next: Reading): Reading[] {
  const last = readings.at(-1);
  if (last && last.at >= next.at) return readings;
  return [...readings, next].slice(-KEPT_READINGS);
}

/** Per second between consecutive readings; null across a reset. */
export function growth(readings: Reading[], counter: 'hits' | 'inserts'): (number | null)[] {
  return readings.slice(1).map((reading, index) => {
    const before = readings[index];
    if (!before || reading[counter] < before[counter]) return null;
    return ((reading[counter] - before[counter]) * 1000) / (reading.at - before.at);
  });
}
