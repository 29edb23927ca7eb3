// Keys that work on every page: Ctrl-K the palette, / the search of the page, ? this list.
import { ActionIcon } from '@mantine/core';
import { lazy, Suspense, useEffect, useState } from 'react';
import { IconSearch } from '@/components/icons';
import { useT } from '@/lib/i18n/context';
import { withWords } from '@/lib/i18n/english';

const Palette = lazy(() => withWords(import('./Palette')).then((module) => ({ default: module.Palette })));
const KeysHelp = lazy(() => withWords(import('./KeysHelp')).then((module) => ({ default: module.KeysHelp })));

type Opened = 'palette' | 'help';

export function Keyboard() {
  const t = useT();
  const [opened, setOpened] = useState<Opened>();
  const close = () => setOpened(undefined);
  useEffect(() => {
    const listen = (event: KeyboardEvent) => {
      const wanted = wantedBy(event);
      if (wanted === undefined) return;
      event.preventDefault();
      if (wanted === 'search' && focusSearch()) return;
      setOpened(wanted === 'help' ? 'help' : 'palette');
    };
    window.addEventListener('keydown', listen);
    return () => window.removeEventListener('keydown', listen);
  }, []);
  return (
    <>
      <ActionIcon
        variant="subtle"
        color="gray"
        aria-label={t('palette.title')}
        title={`${t('palette.title')} (Ctrl K)`}
        onClick={() => setOpened('palette')}
      >
        <IconSearch size={17} />
      </ActionIcon>
      <Suspense>
        {opened === 'palette' && <Palette onClose={close} onKeys={() => setOpened('help')} />}
        {opened === 'help' && <KeysHelp onClose={close} />}
      </Suspense>
    </>
  );
}

/**
 * Returns what a pressed key opens: the palette (Ctrl-K, everywhere), the list of keys (?), or the search of the page
 * (/). Undefined for other keys, and for ? and / while the focus is in an input or a dialog is open, where they are
 * ordinary text.
 */
function wantedBy(event: KeyboardEvent): 'search' | Opened | undefined {
  if ((event.ctrlKey || event.metaKey) && !event.altKey && event.key.toLowerCase() === 'k') return 'palette';
  if (event.ctrlKey || event.metaKey || event.altKey) return undefined;
  if (event.target instanceof Element && event.target.closest('input, textarea, select, [contenteditable]'))
    return undefined;
  if (document.querySelector('[role="dialog"]')) return undefined;
  return { '/': 'search' as const, '?': 'help' as const }[event.key];
}

function focusSearch(): boolean {
  const field = document.querySelector<HTMLInputElement>(
    'main [role="search"] input[type="text"], main [role="search"] input:not([type])',
  );
  field?.focus();
  field?.select();
  return field !== null;
}
