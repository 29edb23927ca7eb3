import { Button } from '@mantine/core';
import { useT } from '@/lib/i18n/context';
import classes from './KeptNotice.module.css';

/** States that a form has restored earlier entries, and offers an empty form. */
export function KeptNotice({ onStartOver }: { onStartOver: (() => void) | undefined }) {
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
