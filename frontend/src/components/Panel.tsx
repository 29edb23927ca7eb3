import { useId, type ReactNode } from 'react';
import classes from './Panel.module.css';

interface PanelProps {
  title?: ReactNode;
  description?: ReactNode;
  actions?: ReactNode;
  children: ReactNode;
  /** True if the content, such as a table, runs to the edges of the panel. */
  flush?: boolean;
}

export function Panel({ title, description, actions, children, flush }: PanelProps) {
  const headingId = useId();
  return (
    <section className={classes.panel} aria-labelledby={title ? headingId : undefined}>
      {(title || actions) && (
        <header className={classes.header}>
          <div>
            {title && (
              <h2 id={headingId} className={classes.title}>
                {title}
              </h2>
            )}
            {description && <p className={classes.description}>{description}</p>}
          </div>
          {actions && <div className={classes.actions}>{actions}</div>}
        </header>
      )}
      <div className={flush ? classes.flush : classes.body}>{children}</div>
    </section>
  );
}
