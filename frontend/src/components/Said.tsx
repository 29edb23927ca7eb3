import type { ReactNode } from 'react';
import classes from './Said.module.css';

/** The API's own sentence, in English, beside words in the viewer's language. */
export function Said({ children }: { children: ReactNode }) {
  return (
    <div className={classes.said} lang="en">
      {children}
    </div>
  );
}
