// The area of a chart in which a time span is selected by dragging. Positions come from the pointer events. The chart's
// own position is where the pointer last moved: it is a frame late for a quick hand, missing for a finger, and always
// on a sample. The drag is stored as timestamps, because the chart may redraw during it and pixel positions would then
// mean other times.
import { useState, type PointerEvent } from 'react';
import { DefaultZIndexes, usePlotArea, ZIndexLayer } from 'recharts';
import { zoomRange } from './timeChartModel';
import classes from './charts.module.css';

interface ZoomAreaProps {
  domain: [number, number];
  onZoom: (from: number, to: number) => void;
}

/**
 * The pointer's distance in pixels from the left edge of the area, limited to its width, since a drag may leave the
 * area.
 */
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
  /**
   * Returns the position in pixels of a timestamp. One that a live chart has scrolled out of view is placed at its
   * edge.
   */
  const placeAt = (moment: number) =>
    plot.x + ((Math.min(Math.max(moment, from), to) - from) / (to - from)) * plot.width;
  const finish = (event: PointerEvent) => {
    const range = drag && zoomRange(drag.start, momentAt(event), domain);
    if (range) onZoom(...range);
    setDrag(undefined);
  };
  return (
    // Below the marks of changes, so that those can be clicked.
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
