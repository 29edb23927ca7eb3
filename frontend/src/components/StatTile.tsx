import { Tooltip } from '@mantine/core';
import type { ReactNode } from 'react';
import type { Tone } from '@/lib/tone';
import { ToneIcon } from './StatusBadge';
import classes from './StatTile.module.css';

interface StatTileProps {
  label: string;
  value: ReactNode;
  note?: ReactNode;
  tone?: Tone;
  /** Shown on hover and focus: how the figure is computed. */
  formula?: string;
}

/** One figure with its name. The formula, where there is one, is a tooltip that the keyboard reaches. */
export function StatTile({ label, value, note, tone, formula }: StatTileProps) {
  const tile = (
    <div className={classes.tile} tabIndex={formula ? 0 : undefined} role="group" aria-label={label}>
      <div className={classes.label}>
        {tone && tone !== 'neutral' && <ToneIcon tone={tone} size={14} />}
        {label}
      </div>
      <div className={`${classes.value} fqc-figure`}>{value}</div>
      {note && <div className={classes.note}>{note}</div>}
    </div>
  );
  return formula ? (
    <Tooltip label={formula} events={{ hover: true, focus: true, touch: true }}>
      {tile}
    </Tooltip>
  ) : (
    tile
  );
}

export function StatTiles({ children }: { children: ReactNode }) {
  return <div className={classes.tiles}>{children}</div>;
}
