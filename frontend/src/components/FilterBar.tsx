import { CloseButton, TextInput } from '@mantine/core';
import { useDebouncedCallback } from '@mantine/hooks';
import { useId, useState, type ReactNode } from 'react';
import { useT } from '@/lib/i18n/context';
import { IconSearch } from './icons';
import classes from './FilterBar.module.css';

export function FilterBar({ children }: { children: ReactNode }) {
  return (
    <div className={classes.bar} role="search">
      {children}
    </div>
  );
}

export function FilterChips({ children }: { children: ReactNode }) {
  return <div className={classes.chips}>{children}</div>;
}

interface FilterInputProps {
  label: string;
  value: string | undefined;
  onChange: (value: string | undefined) => void;
  width?: number;
}

/**
 * A text filter. `onChange` is called after a pause in typing. A value that is changed from outside, such as by the
 * back button, replaces the typed text.
 */
export function FilterInput({ label, value = '', onChange, width = 190 }: FilterInputProps) {
  const t = useT();
  const [text, setText] = useState(value);
  const [known, setKnown] = useState(value);
  if (known !== value) {
    setKnown(value);
    setText(value);
  }
  const report = useDebouncedCallback((next: string) => {
    const trimmed = next.trim();
    setKnown(trimmed);
    onChange(trimmed || undefined);
  }, 250);
  const change = (next: string) => {
    setText(next);
    report(next);
  };
  return (
    <TextInput
      aria-label={label}
      placeholder={label}
      w={width}
      leftSection={<IconSearch size={14} />}
      value={text}
      onChange={(event) => change(event.currentTarget.value)}
      rightSection={
        text && <CloseButton size="xs" aria-label={t('action.clear')} onClick={() => change('')} />
      }
    />
  );
}

/**
 * A date filter. `onChange` gets a date as YYYY-MM-DD, or undefined while the field is empty or incomplete. The label
 * stands before the field, since browsers show a pattern in an empty one.
 */
export function FilterDay({ label, value = '', onChange, width = 150 }: FilterInputProps) {
  const id = useId();
  return (
    <div className={classes.day}>
      <label htmlFor={id}>{label}</label>
      <TextInput
        id={id}
        type="date"
        w={width}
        value={value}
        onChange={(event) => onChange(event.currentTarget.value || undefined)}
      />
    </div>
  );
}
