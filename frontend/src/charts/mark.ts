// The triangle that marks a moment, in a chart and in the legend of its exported picture.
export const MARK_COLOR = '--fqc-series-4';

/** The SVG path of the triangle that marks a moment. Its tip points down, to just below (x, y). */
export function markPath(x: number, y: number): string {
  return `M${x - 5},${y - 4} h10 l-5,7 z`;
}
