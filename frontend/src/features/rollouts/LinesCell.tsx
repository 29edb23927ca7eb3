import type { components } from '@/api/schema.gen';
import classes from './rollouts.module.css';

interface LinesCellProps {
  lines: components['schemas']['FleetApplyLine'][];
  blocking?: string[];
}

export function LinesCell({ lines, blocking = [] }: LinesCellProps) {
  const text = lines.map(
    (line) =>
      `${line.name}: ${line.old_submitted ?? line.old_value ?? '–'} → ${line.new_submitted ?? line.new_value ?? '–'}`,
  );
  const shown = blocking.length ? blocking : text;
  return (
    <span className={classes.lines} title={shown.join('\n')}>
      {shown.join('; ') || '–'}
    </span>
  );
}
