import { DefaultZIndexes, ZIndexLayer } from 'recharts';
import { MARK_COLOR, markPath } from './mark';
import type { Annotation } from './timeChartModel';
import classes from './charts.module.css';

interface AnnotationMarkProps {
  annotation: Annotation;
  /** The top of the annotation's line in pixels, set by the chart. */
  viewBox?: { x?: number; y?: number };
}

/**
 * The triangle at the top of an annotation's line, with the label as its tooltip. A click calls the annotation's
 * `open`. It cannot be reached by keyboard, so a page with marks must also list them as links.
 */
export function AnnotationMark({ annotation, viewBox }: AnnotationMarkProps) {
  const { label, open } = annotation;
  const { x = 0, y = 0 } = viewBox ?? {};
  return (
    <ZIndexLayer zIndex={DefaultZIndexes.label}>
      <g className={open && classes.mark} onClick={open} data-annotation={label}>
        <title>{label}</title>
        <rect x={x - 9} y={y - 8} width={18} height={18} fill="transparent" />
        <path d={markPath(x, y)} fill={`var(${MARK_COLOR})`} />
      </g>
    </ZIndexLayer>
  );
}
