import { useEffect, type RefObject } from 'react';
import { useXAxisInverseDataSnapScale } from 'recharts';

/** Returns the x value of the data point nearest to a position, in pixels from the left edge of the chart. */
export type Nearest = (place: number) => unknown;

/**
 * Draws nothing. As a child of a chart, it keeps in `nearestRef` the function that finds the data point nearest to a
 * position, for use outside of the chart.
 */
export function NearestPoint({ nearestRef }: { nearestRef: RefObject<Nearest | undefined> }) {
  const nearest = useXAxisInverseDataSnapScale();
  useEffect(() => {
    nearestRef.current = nearest;
  }, [nearestRef, nearest]);
  return null;
}
