import { useEffect, type ReactNode } from 'react';
import classes from './PageHeader.module.css';

interface PageHeaderProps {
  title: string;
  /**
   * The name of the open tab. It precedes the title in the browser's title, where pages of one object differ only by
   * it.
   */
  room?: string;
  eyebrow?: ReactNode;
  status?: ReactNode;
  description?: ReactNode;
  actions?: ReactNode;
}

/** The heading of a page, its only h1. It also sets the title of the browser's tab or window. */
export function PageHeader({ title, room, eyebrow, status, description, actions }: PageHeaderProps) {
  useEffect(() => {
    document.title = [room, title, 'Fast Query Cache'].filter(Boolean).join(' · ');
  }, [title, room]);
  return (
    <div className={classes.header}>
      <div className={classes.text}>
        {eyebrow && <div className={classes.eyebrow}>{eyebrow}</div>}
        <div className={classes.titleRow}>
          <h1 className={classes.title}>{title}</h1>
          {status}
        </div>
        {description && <div className={classes.description}>{description}</div>}
      </div>
      {actions && <div className={classes.actions}>{actions}</div>}
    </div>
  );
}
