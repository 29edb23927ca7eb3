import { TextInput } from '@mantine/core';
import { useNavigate } from '@tanstack/react-router';
import { useState } from 'react';
import type { Instance } from '@/api/instances';
import { ConfirmModal } from '@/components/ConfirmModal';
import { useT } from '@/lib/i18n/context';
import { useInstanceDelete } from './api';

export function DeleteInstance({ instance, onClose }: { instance: Instance; onClose: () => void }) {
  const t = useT();
  const navigate = useNavigate();
  const remove = useInstanceDelete((change) =>
    // A deletion that waits for a second person has not deleted anything yet.
    change.needs_second_person
      ? void navigate({
          to: '/instances/$instanceId/changes/$changeId',
          params: { instanceId: instance.id, changeId: change.id },
        })
      : void navigate({ to: '/fleet' }),
  );
  const [typed, setTyped] = useState('');
  const run = () => {
    if (typed === instance.name) remove.mutate(instance);
  };
  return (
    <ConfirmModal
      title={t('instance.deleteAsk', { name: instance.name })}
      confirm={t('action.delete')}
      error={remove.error}
      isBusy={remove.isPending}
      onConfirm={run}
      onClose={onClose}
    >
      <p style={{ marginTop: 0 }}>
        {t(instance.provider === 'local' ? 'instance.deleteLocalHint' : 'instance.deleteExternalHint')}
      </p>
      <TextInput
        label={t('instance.typeName', { name: instance.name })}
        value={typed}
        onChange={(event) => setTyped(event.currentTarget.value)}
      />
    </ConfirmModal>
  );
}
