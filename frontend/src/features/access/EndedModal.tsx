import { Button, Group, Modal, Stack } from '@mantine/core';
import { useFocusBack } from '@/components/useFocusBack';
import { useT } from '@/lib/i18n/context';
import type { Ended } from './api';

export function hasEnded({ sessions, tokens, access_keys }: Ended): boolean {
  return sessions + tokens + access_keys > 0;
}

/** A dialog that says how many sessions, tokens and access keys of a user an action has ended. */
export function EndedModal({ name, ended, onClose }: { name: string; ended: Ended; onClose: () => void }) {
  const t = useT();
  useFocusBack();
  const { sessions, tokens, access_keys: keys } = ended;
  return (
    <Modal opened onClose={onClose} title={t('access.ended', { name })}>
      <Stack gap="sm">
        <div role="status">{t('access.endedCounts', { sessions, tokens, keys })}</div>
        <Group justify="flex-end">
          <Button onClick={onClose}>{t('action.close')}</Button>
        </Group>
      </Stack>
    </Modal>
  );
}
