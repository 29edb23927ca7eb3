// The triangle that marks a moment, in a chart and in the legend of its picture.
export const MARK_COLOR = '--fqc-series-4';

/** Around a point of the line that it stands on. */
export function markPath(x: number, y: number): string {
  return `M${x - 5},${y - 4} h10 l-5,7 z`;
}
