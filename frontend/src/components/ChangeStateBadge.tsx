import { useT } from '@/lib/i18n/context';
import type { Tone } from '@/lib/tone';
import { StatusBadge } from './StatusBadge';

const TONES = {
  previewed: 'neutral',
  approved: 'info',
  applying: 'info',
  verifying: 'info',
  applied: 'ok',
  rolled_back: 'warn',
  failed: 'danger',
  aborted: 'neutral',
} as const satisfies Record<string, Tone>;

interface ChangeStateBadgeProps {
  change: { state: keyof typeof TONES; has_begun: boolean };
}

/**
 * The state of a change set. One that was refused before its first step is not shown as rolled back, since nothing had
 * been done.
 */
export function ChangeStateBadge({ change: { state, has_begun } }: ChangeStateBadgeProps) {
  const t = useT();
  const shown = state === 'rolled_back' && !has_begun ? 'not_begun' : state;
  return <StatusBadge tone={TONES[state]}>{t(`change.state.${shown}`)}</StatusBadge>;
}
