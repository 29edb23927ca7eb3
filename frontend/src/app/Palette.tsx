// Ctrl-K: a search for pages, instances and actions. Enter opens the selected entry.
import { Modal, TextInput } from '@mantine/core';
import { useDebouncedValue } from '@mantine/hooks';
import { useQuery } from '@tanstack/react-query';
import { useNavigate, useRouterState } from '@tanstack/react-router';
import { useState, type KeyboardEvent } from 'react';
import { cacheQueriesQuery, instanceChoicesQuery, instanceParametersQuery } from '@/api/instances';
import { useCan } from '@/api/session';
import { useT } from '@/lib/i18n/context';
import {
  foundEntries,
  instanceOf,
  KEYS,
  matchingEntries,
  pageEntries,
  parameterEntries,
  instancePageEntries,
  statementEntries,
  type Entry,
} from './paletteEntries';
import classes from './Palette.module.css';

const LIST_ID = 'palette-list';
const PAUSE_MS = 150;

/**
 * The entries for parameters and statements of the instance in `path` that match the typed text. They are loaded once
 * something was typed; before that, and on other pages, there are none.
 */
function useOwnEntries(path: string, text: string): Entry[] {
  const t = useT();
  const id = instanceOf(path) ?? '';
  const enabled = id !== '' && text.trim() !== '';
  const parameters = useQuery({ ...instanceParametersQuery(id), enabled });
  const statements = useQuery({ ...cacheQueriesQuery(id, 0), enabled });
  const names = parameters.data?.data.items.map(({ name }) => name) ?? [];
  return [
    ...foundEntries(parameterEntries(id, names, t), text),
    ...foundEntries(statementEntries(id, statements.data?.items ?? [], t), text),
  ];
}

export function Palette({ onClose, onKeys }: { onClose: () => void; onKeys: () => void }) {
  const t = useT();
  const navigate = useNavigate();
  const canChange = useCan('operator');
  const path = useRouterState({ select: (state) => state.location.pathname });
  const [text, setText] = useState('');
  const [asked] = useDebouncedValue(text.trim(), PAUSE_MS);
  const [chosen, setChosen] = useState(0);
  const { data: instances = [] } = useQuery(instanceChoicesQuery(asked));
  const known = [...instancePageEntries(path, t), ...pageEntries(t, canChange)];
  const found: Entry[] = instances.map(({ value, label }) => ({
    label,
    kind: t('palette.instance'),
    href: `/instances/${value}/overview`,
  }));
  const own = useOwnEntries(path, text);
  const entries = [...matchingEntries(known, text), ...matchingEntries(found, text), ...own];
  const current = Math.min(chosen, entries.length - 1);
  const open = (entry: Entry | undefined) => {
    if (!entry) return;
    if (entry.href === KEYS) return onKeys();
    onClose();
    void navigate({ href: entry.href });
  };
  const move = (event: KeyboardEvent) => {
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (step) {
      event.preventDefault();
      setChosen((current + step + entries.length) % Math.max(entries.length, 1));
    }
    if (event.key === 'Enter' && !event.nativeEvent.isComposing) {
      event.preventDefault();
      open(entries[current]);
    }
  };
  return (
    <Modal opened onClose={onClose} title={t('palette.title')} size={560}>
      <TextInput
        role="combobox"
        aria-expanded={entries.length > 0}
        aria-controls={LIST_ID}
        aria-activedescendant={entries[current] && `${LIST_ID}-${current}`}
        aria-label={t('palette.title')}
        placeholder={t('palette.placeholder')}
        data-autofocus
        value={text}
        onChange={(event) => {
          setText(event.currentTarget.value);
          setChosen(0);
        }}
        onKeyDown={move}
      />
      <ul id={LIST_ID} role="listbox" aria-label={t('palette.title')} className={classes.list}>
        {entries.map((entry, index) => (
          <li
            key={`${entry.kind}:${entry.href}:${entry.label}`}
            id={`${LIST_ID}-${index}`}
            role="option"
            aria-selected={index === current}
            className={classes.entry}
            ref={index === current ? reveal : undefined}
            onClick={() => open(entry)}
          >
            <span>{entry.label}</span>
            <span className={classes.kind}>{entry.kind}</span>
          </li>
        ))}
      </ul>
      {entries.length === 0 && <p className={classes.kind}>{t('palette.none')}</p>}
    </Modal>
  );
}

const reveal = (node: HTMLElement | null) => node?.scrollIntoView({ block: 'nearest' });
