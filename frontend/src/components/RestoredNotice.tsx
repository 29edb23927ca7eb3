import { Button } from '@mantine/core';
import { useT } from '@/lib/i18n/context';
import classes from './RestoredNotice.module.css';

/**
 * States that the form shows entries of an earlier visit, with a button that empties it. Nothing if `onStartOver` is
 * undefined.
 */
export function RestoredNotice({ onStartOver }: { onStartOver: (() => void) | undefined }) {
  const t = useT();
  if (!onStartOver) return null;
  return (
    <div className={classes.notice} role="status">
      {t('form.kept')}
      <Button variant="subtle" size="compact-xs" onClick={onStartOver}>
        {t('form.startOver')}
      </Button>
    </div>
  );
}
