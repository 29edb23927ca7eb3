import { useEffect, useState } from 'react';

/** On unmount, returns the focus to the element that had it at mount, so that keyboard users continue from there. */
export function useFocusBack(): void {
  const [opener] = useState(openerOf);
  useEffect(
    () => () => {
      if (opener?.isConnected) opener.focus();
    },
    [opener],
  );
}

/** The focused element. A menu entry disappears with its menu, so for an entry this is the menu's button. */
function openerOf(): HTMLElement | null {
  const active = document.activeElement;
  const menu = active?.closest('[role="menu"]')?.getAttribute('aria-labelledby');
  const opener = menu ? document.getElementById(menu) : active;
  return opener instanceof HTMLElement ? opener : null;
}
