import { useEffect, useState } from 'react';

/**
 * For dialogs: when the component is unmounted, focuses the element that had the focus at mount, if it still exists, so
 * that keyboard users continue from there.
 */
export function useFocusBack(): void {
  const [opener] = useState(openerOf);
  useEffect(
    () => () => {
      if (opener?.isConnected) opener.focus();
    },
    [opener],
  );
}

/**
 * The element to return the focus to: the focused one. For an entry of a menu it is the menu's button, since the entry
 * disappears with its menu. Null if there is none.
 */
function openerOf(): HTMLElement | null {
  const active = document.activeElement;
  const menu = active?.closest('[role="menu"]')?.getAttribute('aria-labelledby');
  const opener = menu ? document.getElementById(menu) : active;
  return opener instanceof HTMLElement ? opener : null;
}
