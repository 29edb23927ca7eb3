import { useEffect, useState } from 'react';

/** What had the focus before this appeared has it again when this is gone: whoever uses the keyboard goes on from there. */
export function useFocusBack(): void {
  const [opener] = useState(openerOf);
  useEffect(
    () => () => {
      if (opener?.isConnected) opener.focus();
    },
    [opener],
  );
}

/** An entry of a menu is gone with it: the menu's button, then. */
function openerOf(): HTMLElement | null {
  const active = document.activeElement;
  const menu = active?.closest('[role="menu"]')?.getAttribute('aria-labelledby');
  const opener = menu ? document.getElementById(menu) : active;
  return opener instanceof HTMLElement ? opener : null;
}
