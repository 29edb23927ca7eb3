import { Button, Group, Modal, Stack } from '@mantine/core';
import type { ReactNode } from 'react';
import { useT } from '@/lib/i18n/context';
import { ErrorPanel } from './ErrorPanel';
import { useFocusBack } from './useFocusBack';

interface ConfirmModalProps {
  title: string;
  confirm: string;
  children: ReactNode;
  error?: unknown;
  isBusy?: boolean;
  /** True if the action destroys nothing. The button that confirms it is then not red. */
  isHarmless?: boolean;
  onConfirm: () => void;
  onClose: () => void;
}

export function ConfirmModal(props: ConfirmModalProps) {
  const t = useT();
  useFocusBack();
  return (
    <Modal opened onClose={props.onClose} title={props.title}>
      <Stack gap="sm">
        {props.error ? <ErrorPanel error={props.error} /> : null}
        <div>{props.children}</div>
        <Group justify="flex-end" gap="xs">
          <Button variant="default" onClick={props.onClose} data-autofocus>
            {t('action.cancel')}
          </Button>
          <Button
            color={props.isHarmless ? undefined : 'red'}
            loading={props.isBusy}
            onClick={props.onConfirm}
          >
            {props.confirm}
          </Button>
        </Group>
      </Stack>
    </Modal>
  );
}
