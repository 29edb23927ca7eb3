// Where a span of time is dragged. Places come from the pointer itself: what the chart tells of a press is where it last saw
// the pointer move, which is a frame late for a quick hand, nowhere for a finger, and never between two samples.
import { useState, type PointerEvent } from 'react';
import { DefaultZIndexes, usePlotArea, useXAxisInverseScale, ZIndexLayer } from 'recharts';
import { zoomRange } from './timeChartModel';
import classes from './charts.module.css';

interface ZoomAreaProps {
  domain: [number, number];
  onZoom: (from: number, to: number) => void;
}

/** How far into the area, at most to its ends: a drag may overshoot them. */
function within({ clientX, currentTarget }: PointerEvent): number {
  const { left, width } = currentTarget.getBoundingClientRect();
  return Math.min(Math.max(clientX - left, 0), width);
}

export function ZoomArea({ domain, onZoom }: ZoomAreaProps) {
  const plot = usePlotArea();
  const momentAt = useXAxisInverseScale();
  const [drag, setDrag] = useState<{ start: number; end: number }>();
  if (!plot || !momentAt) return null;

  const finish = () => {
    const at = (place: number) => Number(momentAt(plot.x + place));
    const range = drag && zoomRange(at(drag.start), at(drag.end), domain);
    if (range) onZoom(...range);
    setDrag(undefined);
  };
  return (
    // Below the marks of changes, which are clicked.
    <ZIndexLayer zIndex={DefaultZIndexes.activeDot}>
      {drag && (
        <rect
          className={classes.dragged}
          x={plot.x + Math.min(drag.start, drag.end)}
          y={plot.y}
          width={Math.abs(drag.end - drag.start)}
          height={plot.height}
        />
      )}
      <rect
        className={classes.zoomArea}
        x={plot.x}
        y={plot.y}
        width={plot.width}
        height={plot.height}
        onPointerDown={(event) => {
          if (event.button !== 0) return;
          event.currentTarget.setPointerCapture(event.pointerId);
          setDrag({ start: within(event), end: within(event) });
        }}
        onPointerMove={(event) => drag && setDrag({ ...drag, end: within(event) })}
        onPointerUp={finish}
        onPointerCancel={() => setDrag(undefined)}
      />
    </ZIndexLayer>
  );
}
