import { useEffect, type ReactNode } from 'react';
import classes from './PageHeader.module.css';

interface PageHeaderProps {
  title: string;
  /** The name of the tab, which distinguishes pages of the same object in the browser's title. */
  room?: string;
  eyebrow?: ReactNode;
  status?: ReactNode;
  description?: ReactNode;
  actions?: ReactNode;
}

/** The page's only h1. It also sets the title of the browser tab. */
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
