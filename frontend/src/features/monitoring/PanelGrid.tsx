import { useMemo } from 'react';
import { ChartPanel } from '@/charts/ChartPanel';
import type { Annotation, TimeChartModel } from '@/charts/timeChartModel';
import { useT, type Translate } from '@/lib/i18n/context';
import { buildPanel, isShown, type Source } from '@/charts/metricPanels';
import { PANELS } from './panels';
import { FreeDiskNote, StorageNote, type Storage } from './StorageNote';
import classes from './monitoring.module.css';

/** The keys of the panels whose figures only a server with the engine reports. */
const ENGINE_ONLY = ['saved'];

interface PanelGridProps {
  sources: Source[];
  annotations: Annotation[];
  hasEngine: boolean;
  storage: Storage | undefined;
  onZoom: (from: number, to: number) => void;
}

export function PanelGrid({ sources, annotations, hasEngine, storage, onZoom }: PanelGridProps) {
  const t = useT();
  const models = useMemo(
    () =>
      PANELS.filter((plan) => isShown(plan, sources)).map((plan) => ({
        plan,
        model: buildPanel(plan, sources, annotations),
      })),
    [sources, annotations],
  );
  const hasSamples = models.some(({ model }) => !model.isEmpty);
  return (
    <div className={classes.grid}>
      {models.map(({ plan, model }) => (
        <div key={plan.key} data-wide={plan.isHeadline || plan.isWide || undefined} className={classes.panel}>
          <ChartPanel
            title={t(`monitoring.panel.${plan.key}`)}
            subject={sources[0]?.label ?? ''}
            model={model}
            height={plan.isHeadline ? 280 : 190}
            syncId="monitoring"
            isFilled={plan.isFilled}
            onZoom={onZoom}
            unavailable={
              !hasEngine && ENGINE_ONLY.includes(plan.key) ? t('monitoring.needsEngine') : undefined
            }
            emptyText={hasSamples ? emptyTextOf(plan.key, model, t) : undefined}
          >
            {storage && plan.key === 'storage' && <StorageNote storage={storage} />}
            {storage && plan.key === 'freeDisk' && <FreeDiskNote storage={storage} />}
          </ChartPanel>
        </div>
      ))}
    </div>
  );
}

/**
 * The text of a chart that has samples but no values, for figures that are missing for a reason of their own. Undefined
 * for other charts, which show the usual text.
 */
function emptyTextOf(key: string, { unit }: TimeChartModel, t: Translate): string | undefined {
  if (key === 'storage') return t('storage.none');
  return unit === 'percent' ? t('monitoring.nothingCounted') : undefined;
}
