import type { ReactNode } from 'react';
import classes from './EmptyState.module.css';

interface EmptyStateProps {
  icon?: ReactNode;
  title: string;
  hint?: ReactNode;
  action?: ReactNode;
  /** True if nothing else is on the page, so that the title is the page's heading. */
  isPage?: boolean;
}

export function EmptyState({ icon, title, hint, action, isPage }: EmptyStateProps) {
  const Title = isPage ? 'h1' : 'div';
  return (
    <div className={classes.empty}>
      {icon && (
        <div className={classes.icon} aria-hidden="true">
          {icon}
        </div>
      )}
      <Title className={classes.title}>{title}</Title>
      {hint && <div className={classes.hint}>{hint}</div>}
      {action && <div className={classes.action}>{action}</div>}
    </div>
  );
}
