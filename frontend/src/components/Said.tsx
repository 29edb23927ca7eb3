import type { ReactNode } from 'react';
import classes from './Said.module.css';

/** A sentence of the API, which is English, within text in the viewer's language. */
export function Said({ children }: { children: ReactNode }) {
  return (
    <div className={classes.said} lang="en">
      {children}
    </div>
  );
}
