import { useT } from '@/lib/i18n/context';
import type { Tone } from '@/lib/tone';
import { StatusBadge } from './StatusBadge';

const TONES = {
  running: 'ok',
  creating: 'info',
  changing: 'info',
  deleting: 'info',
  stopped: 'neutral',
  unreachable: 'danger',
  failed: 'danger',
} as const satisfies Record<string, Tone>;

type State = keyof typeof TONES;

export function InstanceState({ state, reason }: { state: string; reason?: string }) {
  const t = useT();
  if (!(state in TONES)) return <StatusBadge tone="neutral">{state}</StatusBadge>;
  return (
    <StatusBadge tone={TONES[state as State]} title={reason}>
      {t(`instance.state.${state as State}`)}
    </StatusBadge>
  );
}
