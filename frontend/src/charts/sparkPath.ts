// Path of a sparkline. Gaps break the line; a flat series runs through the middle; a lone point is a dot.

const isAbsent = (value: number | null | undefined) => value === null || value === undefined;

/**
 * The SVG path of a sparkline, from the lowest value at the bottom to the highest at the top. Null values break the
 * line.
 */
export function sparkPath(values: readonly (number | null)[], width: number, height: number): string {
  const present = values.filter((value): value is number => value !== null);
  const low = Math.min(...present);
  const high = Math.max(...present);
  const x = (index: number) => ((values.length > 1 ? index / (values.length - 1) : 1) * width).toFixed(1);
  const y = (value: number) =>
    (high === low ? height / 2 : height - ((value - low) / (high - low)) * height).toFixed(1);
  let isPenDown = false;
  return values
    .map((value, index) => {
      if (value === null) {
        isPenDown = false;
        return '';
      }
      const command = isPenDown ? 'L' : 'M';
      isPenDown = true;
      const isAlone = command === 'M' && isAbsent(values[index + 1]);
      return `${command}${x(index)},${y(value)}${isAlone ? 'h0' : ''}`;
    })
    .join('');
}
