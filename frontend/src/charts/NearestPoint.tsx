import { useEffect, type RefObject } from 'react';
import { useXAxisInverseDataSnapScale } from 'recharts';

export type Nearest = (place: number) => unknown;

/** Inside a chart: keeps for the outside how a place in it becomes the nearest point of its data. */
export function NearestPoint({ nearestRef }: { nearestRef: RefObject<Nearest | undefined> }) {
  const nearest = useXAxisInverseDataSnapScale();
  useEffect(() => {
    nearestRef.current = nearest;
  }, [nearestRef, nearest]);
  return null;
}
