import { useEffect, type RefObject } from 'react';
import { useXAxisInverseDataSnapScale } from 'recharts';

export type Nearest = (place: number) => unknown;

/** Rendered inside a chart: gives the outside a function that maps a position to the nearest data point. */
export function NearestPoint({ nearestRef }: { nearestRef: RefObject<Nearest | undefined> }) {
  const nearest = useXAxisInverseDataSnapScale();
  useEffect(() => {
    nearestRef.current = nearest;
  }, [nearestRef, nearest]);
  return null;
}
