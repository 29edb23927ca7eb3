import { Skeleton, Tooltip } from '@mantine/core';
import type { ReactNode } from 'react';
import { useT } from '@/lib/i18n/context';
import { ABSENT } from '@/lib/number';
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
  /** What the figure comes from: until it is here no value is shown, since a dash would say that there is none. */
  query?: { data: unknown; isError: boolean };
}

/** One figure with its name. The formula, where there is one, is a tooltip that the keyboard reaches. */
export function StatTile({ label, value, note, tone, formula, query }: StatTileProps) {
  const t = useT();
  if (query && query.data === undefined) {
    return (
      <div className={classes.tile} role="group" aria-label={label} aria-busy={!query.isError || undefined}>
        <div className={classes.label}>{label}</div>
        <div className={classes.value}>
          {query.isError ? ABSENT : <Skeleton height={22} width={64} my={4} />}
        </div>
        {query.isError && <div className={classes.note}>{t('state.failed')}</div>}
      </div>
    );
  }
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
