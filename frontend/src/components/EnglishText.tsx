import type { ReactNode } from 'react';
import classes from './EnglishText.module.css';

/** Marks an English sentence of the API within text of another language, so that screen readers pronounce it right. */
export function EnglishText({ children }: { children: ReactNode }) {
  return (
    <div className={classes.text} lang="en">
      {children}
    </div>
  );
}
