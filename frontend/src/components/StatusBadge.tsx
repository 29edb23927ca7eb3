import type { ReactNode } from 'react';
import type { Tone } from '@/lib/tone';
import { IconAlertTriangle, IconCircleCheck, IconCircleDashed, IconCircleX, IconInfoCircle } from './icons';
import classes from './StatusBadge.module.css';

const ICONS = {
  ok: IconCircleCheck,
  warn: IconAlertTriangle,
  danger: IconCircleX,
  info: IconInfoCircle,
  neutral: IconCircleDashed,
} as const;

export function ToneIcon({ tone, size = 16 }: { tone: Tone; size?: number }) {
  const Icon = ICONS[tone];
  return <Icon size={size} className={classes.icon} data-tone={tone} aria-hidden="true" />;
}

export function StatusBadge({ tone, children, title }: { tone: Tone; children: ReactNode; title?: string }) {
  return (
    <span className={classes.badge} data-tone={tone} title={title}>
      <ToneIcon tone={tone} size={13} />
      {children}
    </span>
  );
}
