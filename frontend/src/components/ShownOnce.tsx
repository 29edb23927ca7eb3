import { Button, CopyButton, Group, Modal, Stack, Text } from '@mantine/core';
import { useT } from '@/lib/i18n/context';
import { IconCopy } from './icons';
import classes from './ShownOnce.module.css';

interface ShownOnceProps {
  title: string;
  facts: { label: string; value: string }[];
  onClose: () => void;
}

/**
 * The dialog with a newly created secret, which the API never returns again. Only its own button closes it, not Escape
 * or a click outside.
 */
export function ShownOnce({ title, facts, onClose }: ShownOnceProps) {
  const t = useT();
  return (
    <Modal
      opened
      onClose={onClose}
      title={title}
      closeOnClickOutside={false}
      closeOnEscape={false}
      withCloseButton={false}
    >
      <Stack gap="sm">
        <Text size="sm">{t('access.shownOnce')}</Text>
        {facts.map(({ label, value }) => (
          <div key={label}>
            <div className={classes.label}>{label}</div>
            <div className={classes.fact}>
              <code className={classes.value}>{value}</code>
              <CopyButton value={value}>
                {({ copied, copy }) => (
                  <Button
                    variant="light"
                    leftSection={<IconCopy size={14} />}
                    onClick={copy}
                    aria-label={t('access.copy', { name: label })}
                  >
                    {t(copied ? 'action.copied' : 'action.copy')}
                  </Button>
                )}
              </CopyButton>
            </div>
          </div>
        ))}
        <Group justify="flex-end">
          <Button variant="default" onClick={onClose} data-autofocus>
            {t('action.close')}
          </Button>
        </Group>
      </Stack>
    </Modal>
  );
}
