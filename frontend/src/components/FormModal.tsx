import { Button, Group, Modal, Stack } from '@mantine/core';
import type { FormEvent, ReactNode } from 'react';
import { useT } from '@/lib/i18n/context';
import { ErrorPanel } from './ErrorPanel';
import { RestoredNotice } from './RestoredNotice';
import { useFocusBack } from './useFocusBack';

interface FormModalProps {
  title: string;
  submit: string;
  /** The mutation that submits the form: its error is shown, and the button is busy while it is pending. */
  mutation: { error: unknown; isPending: boolean };
  size?: number;
  isDisabled?: boolean;
  /** Empties the form. Absent unless the form shows entries that were restored from an earlier visit. */
  onStartOver?: () => void;
  onSubmit: () => void;
  /** Called by the Cancel button instead of `onClose`, for forms that then discard the stored entries. */
  onCancel?: () => void;
  onClose: () => void;
  /** Warnings with questions, which the user answers before submitting the form again. */
  doubts?: ReactNode;
  children: ReactNode;
}

const reveal = (node: HTMLElement | null) => node?.scrollIntoView({ block: 'nearest' });

/** A form in a dialog. Errors and doubts are shown next to the submit button. */
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
          <RestoredNotice onStartOver={props.onStartOver} />
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
