import { useQuery } from '@tanstack/react-query';
import { cacheStatusQuery } from '@/api/instances';
import { NotCachedReasons } from '@/components/NotCachedReasons';
import { QueryView } from '@/components/QueryView';
import { useMemo } from 'react';
import { ChartPanel } from '@/charts/ChartPanel';
import type { Annotation } from '@/charts/timeChartModel';
import { useT } from '@/lib/i18n/context';
import { buildPanel, isShown, PANELS, type PanelPlan, type Source } from './panels';
import classes from './monitoring.module.css';

const REASONS_POLL_MS = 60_000;

/** Panels whose every figure only the engine reports. */
const ENGINE_ONLY: PanelPlan['key'][] = ['saved'];

interface PanelGridProps {
  instanceId: string;
  sources: Source[];
  annotations: Annotation[];
  hasEngine: boolean;
  onZoom: (from: number, to: number) => void;
}

export function PanelGrid({ instanceId, sources, annotations, hasEngine, onZoom }: PanelGridProps) {
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
            emptyText={hasSamples && model.unit === 'percent' ? t('monitoring.nothingCounted') : undefined}
          >
            {plan.key === 'notCached' && <WhyNotCached instanceId={instanceId} />}
          </ChartPanel>
        </div>
      ))}
    </div>
  );
}

function WhyNotCached({ instanceId }: { instanceId: string }) {
  const status = useQuery(cacheStatusQuery(instanceId, REASONS_POLL_MS));
  return <QueryView query={status}>{(data) => <NotCachedReasons status={data} />}</QueryView>;
}
