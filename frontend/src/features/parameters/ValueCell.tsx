// A parameter's value, edited in place. Enter adds the new value to the draft and moves to the next row, Escape
// cancels, arrow keys move up and down. While a cell has the focus, Tab skips all other cells, because the review
// button comes after hundreds of them.
import { Popover, VisuallyHidden } from '@mantine/core';
import { useCallback, useEffect, useRef, useState, type KeyboardEvent, type ReactNode } from 'react';
import type { Instance, InstanceParameter } from '@/api/instances';
import { IconArrowBackUp, IconArrowRight, IconX } from '@/components/icons';
import { ParameterValue } from '@/components/ParameterValue';
import { useT } from '@/lib/i18n/context';
import { presentValue } from './parameterList';
import type { Draft } from './useDraft';
import { ValueEditor } from './ValueEditor';
import classes from './parameters.module.css';

/** The parameter whose cell has the focus, shared by all cells. `name` is undefined if none has; `set` replaces it. */
export interface FocusedRow {
  name: string | undefined;
  set: (change: (old: string | undefined) => string | undefined) => void;
}

interface ValueCellProps {
  row: InstanceParameter;
  instance: Instance;
  draft: Draft;
  canChange: boolean;
  isAdmin: boolean;
  focused: FocusedRow;
}

export function ValueCell({ row, instance, draft, canChange, isAdmin, focused }: ValueCellProps) {
  const t = useT();
  const button = useRef<HTMLButtonElement>(null);
  const [isEditing, setIsEditing] = useState(false);
  const { set: setFocused } = focused;
  const leave = useCallback(
    () => setFocused((old) => (old === row.name ? undefined : old)),
    [setFocused, row.name],
  );
  // A virtual row that is scrolled away is unmounted without a blur event.
  useEffect(() => leave, [leave]);
  const isDrafted = row.name in draft.values;
  const close = () => {
    setIsEditing(false);
    button.current?.focus();
  };
  /** Adds the value that the server runs below `value`, the configured one, if they differ. */
  const withRunning = (value: ReactNode) =>
    row.is_drifted ? (
      <>
        {value}
        <span className={classes.running}>{t('parameters.runs', { value: row.running ?? '–' })}</span>
      </>
    ) : (
      value
    );
  const present = (
    <ParameterValue value={presentValue(row)} resolved={row.resolved} unit={row.unit} isClipped />
  );
  if (canChange && row.access === 'never' && row.configured !== null)
    return withRunning(<TakeOff row={row} draft={draft} present={present} />);
  if (!canChange || row.access === 'never' || (row.access === 'admin' && !isAdmin))
    return withRunning(present);
  return withRunning(
    <Popover
      opened={isEditing}
      onChange={setIsEditing}
      position="bottom-start"
      width={380}
      shadow="md"
      trapFocus
      returnFocus
    >
      <span className={classes.cell} onFocus={() => setFocused(() => row.name)} onBlur={leave}>
        <Popover.Target>
          <button
            ref={button}
            type="button"
            className={classes.value}
            data-value-cell
            tabIndex={focused.name === undefined || focused.name === row.name ? 0 : -1}
            data-drafted={isDrafted || undefined}
            onClick={() => setIsEditing(true)}
            onKeyDown={moveByArrow}
          >
            {/* The label is added to the visible value and does not replace it, so that users of speech control can say the value. */}
            <VisuallyHidden>{t('parameters.edit', { name: row.name })} </VisuallyHidden>
            {isDrafted ? <DraftedValue row={row} value={draft.values[row.name] ?? null} /> : present}
          </button>
        </Popover.Target>
        {isDrafted && (
          <button
            type="button"
            className={classes.drop}
            onClick={() => draft.drop(row.name)}
            aria-label={t('parameters.drop', { name: row.name })}
          >
            <IconX size={13} />
          </button>
        )}
      </span>
      <Popover.Dropdown>
        {isEditing && <ValueEditor row={row} instance={instance} draft={draft} onClose={close} />}
      </Popover.Dropdown>
    </Popover>,
  );
}

/**
 * The cell of a parameter that may no longer be set but still has a configured value. Its only action adds the removal
 * of that value to the draft, or takes it out again.
 */
function TakeOff({ row, draft, present }: { row: InstanceParameter; draft: Draft; present: ReactNode }) {
  const t = useT();
  const isDrafted = row.name in draft.values;
  const label = t(isDrafted ? 'parameters.drop' : 'parameters.takeOff', { name: row.name });
  return (
    <span className={classes.cell}>
      {isDrafted ? <DraftedValue row={row} value={null} /> : present}
      <button
        type="button"
        className={classes.drop}
        onClick={() => (isDrafted ? draft.drop(row.name) : draft.set(row.name, null))}
        aria-label={label}
        title={label}
      >
        {isDrafted ? <IconX size={13} /> : <IconArrowBackUp size={13} />}
      </button>
    </span>
  );
}

function DraftedValue({ row, value }: { row: InstanceParameter; value: string | null }) {
  const t = useT();
  return (
    <>
      <s className={classes.former}>{presentValue(row) ?? '–'}</s>
      <IconArrowRight size={13} aria-label={t('change.becomes')} />
      {value === null ? (
        <em>{t('change.default')}</em>
      ) : (
        <ParameterValue value={value} unit={row.unit} isClipped />
      )}
    </>
  );
}

function moveByArrow(event: KeyboardEvent<HTMLButtonElement>) {
  const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
  if (!step) return;
  const cells = [
    ...(event.currentTarget.closest('table')?.querySelectorAll<HTMLElement>('[data-value-cell]') ?? []),
  ];
  const next = cells[cells.indexOf(event.currentTarget) + step];
  if (!next) return;
  event.preventDefault();
  next.focus();
}
