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

export function ApplyStateBadge({ state }: { state: FleetApply['state'] }) {
  const t = useT();
  return <StatusBadge tone={APPLY_TONES[state]}>{t(`rollout.state.${state}`)}</StatusBadge>;
}

export function ItemStateBadge({ state }: { state: FleetApplyItem['state'] }) {
  const t = useT();
  return <StatusBadge tone={ITEM_TONES[state]}>{t(`rollout.item.${state}`)}</StatusBadge>;
}
