import { Button, Menu } from '@mantine/core';
import { useNavigate } from '@tanstack/react-router';
import { useState } from 'react';
import type { Timing } from '@/api/changes';
import { useInstanceAction, type Instance } from '@/api/instances';
import { ConfirmModal } from '@/components/ConfirmModal';
import {
  IconChevronDown,
  IconPencil,
  IconRefresh,
  IconRocket,
  IconServer2,
  IconTrash,
} from '@/components/icons';
import { TimingPicker } from '@/components/TimingPicker';
import { useT } from '@/lib/i18n/context';
import { DeleteInstance } from './DeleteInstance';
import { EditInstance } from './EditInstance';
import { ResizeInstance } from './ResizeInstance';

type Dialog = 'edit' | 'restart' | 'upgrade' | 'resize' | 'delete';

export function InstanceActions({ instance }: { instance: Instance }) {
  const t = useT();
  const [dialog, setDialog] = useState<Dialog>();
  const close = () => setDialog(undefined);
  const isLocal = instance.provider === 'local';
  return (
    <>
      <Menu position="bottom-end">
        <Menu.Target>
          <Button variant="default" rightSection={<IconChevronDown size={14} />}>
            {t('instance.actions')}
          </Button>
        </Menu.Target>
        <Menu.Dropdown>
          <Menu.Item leftSection={<IconPencil size={15} />} onClick={() => setDialog('edit')}>
            {t('action.edit')}
          </Menu.Item>
          <Menu.Item
            leftSection={<IconRefresh size={15} />}
            disabled={!isLocal}
            onClick={() => setDialog('restart')}
          >
            {t('instance.restart')}
          </Menu.Item>
          <Menu.Item
            leftSection={<IconRocket size={15} />}
            disabled={!isLocal}
            onClick={() => setDialog('upgrade')}
          >
            {t('instance.upgrade')}
          </Menu.Item>
          <Menu.Item leftSection={<IconServer2 size={15} />} onClick={() => setDialog('resize')}>
            {t('instance.resize')}
          </Menu.Item>
          <Menu.Divider />
          <Menu.Item color="red" leftSection={<IconTrash size={15} />} onClick={() => setDialog('delete')}>
            {t('instance.delete')}
          </Menu.Item>
        </Menu.Dropdown>
      </Menu>
      {dialog === 'edit' && <EditInstance instance={instance} onClose={close} />}
      {(dialog === 'restart' || dialog === 'upgrade') && (
        <TimedAction instance={instance} route={dialog} onClose={close} />
      )}
      {dialog === 'resize' && <ResizeInstance instance={instance} onClose={close} />}
      {dialog === 'delete' && <DeleteInstance instance={instance} onClose={close} />}
    </>
  );
}

interface TimedActionProps {
  instance: Instance;
  route: 'restart' | 'upgrade';
  onClose: () => void;
}

function TimedAction({ instance, route, onClose }: TimedActionProps) {
  const t = useT();
  const navigate = useNavigate();
  const act = useInstanceAction(
    instance.id,
    (change) =>
      void navigate({
        to: '/instances/$instanceId/changes/$changeId',
        params: { instanceId: instance.id, changeId: change.id },
      }).then(onClose),
  );
  const [timing, setTiming] = useState<Timing>({ when: 'now', at: null });
  return (
    <ConfirmModal
      title={t(`instance.${route}Ask`, { name: instance.name })}
      confirm={t(`instance.${route}`)}
      isHarmless={route === 'upgrade'}
      error={act.error}
      isBusy={act.isPending}
      onConfirm={() => act.mutate({ route, body: { ...timing } })}
      onClose={onClose}
    >
      <p style={{ marginTop: 0 }}>{t(`instance.${route}Hint`)}</p>
      <TimingPicker window={instance.maintenance_window} timing={timing} onChange={setTiming} />
    </ConfirmModal>
  );
}
