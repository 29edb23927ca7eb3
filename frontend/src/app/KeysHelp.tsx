// ?: the keys that work on every page.
import { Kbd, Modal } from '@mantine/core';
import { useT } from '@/lib/i18n/context';
import classes from './Palette.module.css';

export function KeysHelp({ onClose }: { onClose: () => void }) {
  const t = useT();
  return (
    <Modal opened onClose={onClose} title={t('keys.title')}>
      <dl className={classes.keys}>
        {(
          [
            ['Ctrl K', 'palette.title'],
            ['/', 'keys.search'],
            ['?', 'keys.title'],
            ['↑ ↓', 'keys.move'],
            ['Enter', 'keys.open'],
            ['Esc', 'keys.close'],
          ] as const
        ).map(([key, meaning]) => (
          <div key={key} style={{ display: 'contents' }}>
            <dt>
              <Kbd>{key}</Kbd>
            </dt>
            <dd>{t(meaning)}</dd>
          </div>
        ))}
      </dl>
    </Modal>
  );
}
