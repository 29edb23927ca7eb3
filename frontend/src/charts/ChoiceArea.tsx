// Takes a click anywhere in a plot as the choice of its nearest point. The place comes from the pointer itself, for the
// reasons of ZoomArea.
import {
  DefaultZIndexes,
  useChartWidth,
  usePlotArea,
  useXAxisInverseDataSnapScale,
  ZIndexLayer,
} from 'recharts';
import classes from './charts.module.css';

export function ChoiceArea({ onChoose }: { onChoose: (at: number) => void }) {
  const plot = usePlotArea();
  const width = useChartWidth();
  const nearest = useXAxisInverseDataSnapScale();
  if (!plot || !width || !nearest) return null;
  return (
    <ZIndexLayer zIndex={DefaultZIndexes.activeDot}>
      {/* From edge to edge: half of the first and of the last point is beside the plot. */}
      <rect
        className={classes.choiceArea}
        x={0}
        y={0}
        width={width}
        height={plot.y + plot.height}
        onClick={({ clientX, currentTarget }) =>
          onChoose(Number(nearest(clientX - currentTarget.getBoundingClientRect().left)))
        }
      />
    </ZIndexLayer>
  );
}
