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

export function ChangeStateBadge({ state }: { state: keyof typeof TONES }) {
  const t = useT();
  return <StatusBadge tone={TONES[state]}>{t(`change.state.${state}`)}</StatusBadge>;
}
