// Typed values that are not applied yet. They are kept for the browser tab, so that a reload or another page loses
// nothing.
import { useCallback, useEffect, useEffectEvent, useState } from 'react';
import type { DraftValues } from '@/api/changes';

function read(key: string): DraftValues {
  try {
    return JSON.parse(window.sessionStorage.getItem(key) ?? '{}') as DraftValues;
  } catch {
    return {};
  }
}

function keep(key: string, draft: DraftValues) {
  try {
    if (Object.keys(draft).length) window.sessionStorage.setItem(key, JSON.stringify(draft));
    else window.sessionStorage.removeItem(key);
  } catch {
    // Without storage the draft lasts as long as the page.
  }
}

/**
 * The new values of an instance's parameters that are not applied yet, by name; null resets to the default. `drop`
 * takes one out of the draft, `clear` all.
 */
export interface Draft {
  values: DraftValues;
  set: (name: string, value: string | null) => void;
  drop: (name: string) => void;
  clear: () => void;
}

/**
 * The draft of an instance's parameters, which is kept for the browser tab. `prepared` values are added once, when the
 * page opens, and `onTaken` is called then, to remove them from the address. From then on they are like typed ones.
 */
export function useDraft(
  instanceId: string,
  prepared: Record<string, string> | undefined,
  onTaken: () => void,
): Draft {
  const key = `fqc.draft.${instanceId}`;
  const [values, setValues] = useState<DraftValues>(() => ({ ...read(key), ...prepared }));
  const take = useEffectEvent(() => {
    if (!prepared) return;
    keep(key, values);
    onTaken();
  });
  useEffect(() => take(), []);
  const update = useCallback(
    (change: (old: DraftValues) => DraftValues) =>
      setValues((old) => {
        const next = change(old);
        keep(key, next);
        return next;
      }),
    [key],
  );
  return {
    values,
    set: useCallback((name, value) => update((old) => ({ ...old, [name]: value })), [update]),
    drop: useCallback(
      (name) => update((old) => Object.fromEntries(Object.entries(old).filter(([other]) => other !== name))),
      [update],
    ),
    // Clears the storage first, because the page may be unmounted before its state would update.
    clear: useCallback(() => {
      keep(key, {});
      setValues({});
    }, [key]),
  };
}
