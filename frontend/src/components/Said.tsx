import type { ReactNode } from 'react';
import classes from './Said.module.css';

/** Marks an English sentence of the API within text of another language, so that screen readers pronounce it right. */
export function Said({ children }: { children: ReactNode }) {
  return (
    <div className={classes.said} lang="en">
      {children}
    </div>
  );
}
