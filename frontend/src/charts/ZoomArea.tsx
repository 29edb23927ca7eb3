// Where a span of time is dragged. Places come from the pointer itself: what the chart tells of a press is where it last saw
// the pointer move, which is a frame late for a quick hand, nowhere for a finger, and never between two samples.
// A drag is kept as moments: the chart may be drawn anew meanwhile, and its places then mean others.
import { useState, type PointerEvent } from 'react';
import { DefaultZIndexes, usePlotArea, ZIndexLayer } from 'recharts';
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
  const [drag, setDrag] = useState<{ start: number; end: number }>();
  if (!plot) return null;

  const [from, to] = domain;
  const momentAt = (event: PointerEvent) => from + (within(event) / plot.width) * (to - from);
  /** A moment that the chart has left behind is drawn at its edge. */
  const placeAt = (moment: number) =>
    plot.x + ((Math.min(Math.max(moment, from), to) - from) / (to - from)) * plot.width;
  const finish = (event: PointerEvent) => {
    const range = drag && zoomRange(drag.start, momentAt(event), domain);
    if (range) onZoom(...range);
    setDrag(undefined);
  };
  return (
    // Below the marks of changes, which are clicked.
    <ZIndexLayer zIndex={DefaultZIndexes.activeDot}>
      {drag && (
        <rect
          className={classes.dragged}
          x={Math.min(placeAt(drag.start), placeAt(drag.end))}
          y={plot.y}
          width={Math.abs(placeAt(drag.end) - placeAt(drag.start))}
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
          setDrag({ start: momentAt(event), end: momentAt(event) });
        }}
        onPointerMove={(event) => drag && setDrag({ ...drag, end: momentAt(event) })}
        onPointerUp={finish}
        onPointerCancel={() => setDrag(undefined)}
      />
    </ZIndexLayer>
  );
}
