import { StatusBadge } from '@/components/StatusBadge';
import { useT } from '@/lib/i18n/context';
import type { FleetApply, FleetApplyItem } from './api';

const APPLY_TONES = {
  previewed: 'neutral',
  running: 'info',
  paused: 'warn',
  done: 'ok',
  stopped: 'danger',
  aborted: 'neutral',
} as const;

const ITEM_TONES = {
  pending: 'neutral',
  blocked: 'danger',
  dispatched: 'info',
  running: 'info',
  applied: 'ok',
  unchanged: 'ok',
  failed: 'danger',
  skipped: 'neutral',
} as const;

/** The state of a fleet apply. One that is done is shown as a warning if some instances were blocked or failed. */
export function ApplyStateBadge({ apply: { state, counts } }: { apply: FleetApply }) {
  const t = useT();
  const isMissed = state === 'done' && ((counts.blocked ?? 0) > 0 || (counts.failed ?? 0) > 0);
  return (
    <StatusBadge tone={isMissed ? 'warn' : APPLY_TONES[state]}>{t(`rollout.state.${state}`)}</StatusBadge>
  );
}

export function ItemStateBadge({ state }: { state: FleetApplyItem['state'] }) {
  const t = useT();
  return <StatusBadge tone={ITEM_TONES[state]}>{t(`rollout.item.${state}`)}</StatusBadge>;
}
