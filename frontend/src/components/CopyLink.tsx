import { CopyButton } from '@mantine/core';
import { useT } from '@/lib/i18n/context';
import classes from './CopyLink.module.css';

/** A button that copies the text to the clipboard, and then shows that it did. */
export function CopyLink({ value }: { value: string }) {
  const t = useT();
  return (
    <CopyButton value={value}>
      {({ copied, copy }) => (
        <button type="button" className={classes.copy} onClick={copy}>
          {copied ? t('action.copied') : t('action.copy')}
        </button>
      )}
    </CopyButton>
  );
}
