import { Skeleton, Tooltip } from '@mantine/core';
import { Children, type CSSProperties, type ReactNode } from 'react';
import { useT } from '@/lib/i18n/context';
import { ABSENT } from '@/lib/number';
import type { Tone } from '@/lib/tone';
import { ToneIcon } from './StatusBadge';
import classes from './StatTile.module.css';

interface StatTileProps {
  label: string;
  value: ReactNode;
  /** The unit, below the value. Absent if the value contains its unit. */
  unit?: string;
  note?: ReactNode;
  tone?: Tone;
  /** How the figure is computed: a tooltip on hover and keyboard focus. */
  formula?: string;
  /**
   * The query that loads the figure. While it has no data, a skeleton or a failure is shown instead of the value, since
   * a dash would say that there is no value.
   */
  query?: { data: unknown; isError: boolean };
}

/** A tile with one figure and its name. Keyboard users reach the formula, if there is one, by Tab. */
export function StatTile({ label, value, unit, note, tone, formula, query }: StatTileProps) {
  const t = useT();
  if (query && query.data === undefined) {
    return (
      <div className={classes.tile} role="group" aria-label={label} aria-busy={!query.isError || undefined}>
        <div className={classes.label}>{label}</div>
        <div className={classes.value}>
          {query.isError ? ABSENT : <Skeleton height={22} width={64} my={4} />}
        </div>
        <div className={classes.note}>{query.isError ? t('state.failed') : '\u00a0'}</div>
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
      {(unit ?? note) && (
        <div className={classes.note}>
          {unit && <span>{unit}</span>}
          {note}
        </div>
      )}
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

/** The most tiles that fit in one row of a wide screen. */
const MOST_IN_ROW = 8;

/** A row of tiles. More than 8 are spread evenly over several rows, so that no tile stands alone. */
export function StatTiles({ children }: { children: ReactNode }) {
  const count = Children.toArray(children).length;
  const inRow = Math.ceil(count / Math.ceil(count / MOST_IN_ROW));
  return (
    <div className={classes.tiles} style={{ '--tiles-in-row': inRow } as CSSProperties}>
      {children}
    </div>
  );
}
