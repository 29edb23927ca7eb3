import { CopyButton } from '@mantine/core';
import { useT } from '@/lib/i18n/context';
import classes from './Statements.module.css';

/** What somebody is to run on the server. */
export function Statements({ lines }: { lines: string[] }) {
  const t = useT();
  const text = lines.join('\n');
  return (
    <div className={classes.place}>
      <pre className={classes.statements}>{text}</pre>
      <CopyButton value={text}>
        {({ copied, copy }) => (
          <button type="button" className={classes.copy} onClick={copy}>
            {copied ? t('action.copied') : t('action.copy')}
          </button>
        )}
      </CopyButton>
    </div>
  );
}
