import { Button, Group, Modal, Stack } from '@mantine/core';
import type { FormEvent, ReactNode } from 'react';
import { useT } from '@/lib/i18n/context';
import { ErrorPanel } from './ErrorPanel';
import { KeptNotice } from './KeptNotice';
import { useFocusBack } from './useFocusBack';

interface FormModalProps {
  title: string;
  submit: string;
  /** What sends the form. */
  mutation: { error: unknown; isPending: boolean };
  size?: number;
  isDisabled?: boolean;
  /** Offered when the form came back from an earlier visit. */
  onStartOver?: () => void;
  onSubmit: () => void;
  /** Given up by the button: what was typed is not wanted any more. */
  onCancel?: () => void;
  onClose: () => void;
  /** What is to be decided before it is sent again. */
  doubts?: ReactNode;
  children: ReactNode;
}

const reveal = (node: HTMLElement | null) => node?.scrollIntoView({ block: 'nearest' });

/** The frame of a form in a dialog. What was refused or is doubtful is told beside the button that was pressed. */
export function FormModal({ title, submit, mutation, onClose, ...props }: FormModalProps) {
  const t = useT();
  useFocusBack();
  const send = (event: FormEvent) => {
    event.preventDefault();
    props.onSubmit();
  };
  return (
    <Modal opened onClose={onClose} title={title} size={props.size}>
      <form onSubmit={send}>
        <Stack gap="sm">
          <KeptNotice onStartOver={props.onStartOver} />
          {props.children}
          <Stack gap="sm" ref={props.doubts || mutation.error ? reveal : undefined}>
            {props.doubts}
            {mutation.error ? <ErrorPanel error={mutation.error} /> : null}
            <Group justify="flex-end" gap="xs">
              <Button variant="default" onClick={props.onCancel ?? onClose}>
                {t('action.cancel')}
              </Button>
              <Button type="submit" loading={mutation.isPending} disabled={props.isDisabled}>
                {submit}
              </Button>
            </Group>
          </Stack>
        </Stack>
      </form>
    </Modal>
  );
}
