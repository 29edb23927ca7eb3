import { Button } from '@mantine/core';
import { useNavigate } from '@tanstack/react-router';
import { useState } from 'react';
import type { Change } from '@/api/changes';
import { useCan } from '@/api/session';
import { ConfirmModal } from '@/components/ConfirmModal';
import { IconArrowBackUp, IconCheck, IconPlayerPlay, IconX } from '@/components/icons';
import { ErrorPanel } from '@/components/ErrorPanel';
import { useT } from '@/lib/i18n/context';
import { actionsOf, type ChangeAction } from './actionsOf';
import { useChangeAction } from './api';

const LOOKS = {
  approve: { label: 'change.approve', Icon: IconCheck, variant: 'filled' },
  apply: { label: 'change.applyNow', Icon: IconPlayerPlay, variant: 'default' },
  abort: { label: 'change.abort', Icon: IconX, variant: 'default' },
  rollback: { label: 'change.rollback', Icon: IconArrowBackUp, variant: 'default' },
} as const;

export function ChangeActions({ change }: { change: Change }) {
  const t = useT();
  const canChange = useCan('operator');
  const canStart = useCan(change.needs_admin ? 'admin' : 'operator');
  const navigate = useNavigate();
  const act = useChangeAction(change.id);
  const [asking, setAsking] = useState<'abort' | 'rollback'>();
  if (!canChange) return null;
  const run = (action: ChangeAction) =>
    act.mutate(action, {
      onSuccess: (result) => {
        setAsking(undefined);
        if (result.id === change.id || !result.instance) return;
        const params = { instanceId: result.instance, changeId: result.id };
        void navigate({ to: '/instances/$instanceId/changes/$changeId', params });
      },
    });
  return (
    <>
      {actionsOf(change, canStart).map((action) => {
        const { label, Icon, variant } = LOOKS[action];
        const start = () => (action === 'abort' || action === 'rollback' ? setAsking(action) : run(action));
        return (
          <Button
            key={action}
            variant={variant}
            leftSection={<Icon size={14} />}
            loading={act.isPending}
            onClick={start}
          >
            {t(label)}
          </Button>
        );
      })}
      {act.isError && !asking && <ErrorPanel error={act.error} />}
      {asking && (
        <ConfirmModal
          title={t(`change.${asking}Ask`)}
          confirm={t(LOOKS[asking].label)}
          isHarmless={asking === 'rollback'}
          error={act.error}
          isBusy={act.isPending}
          onConfirm={() => run(asking)}
          onClose={() => setAsking(undefined)}
        >
          {t(`change.${asking}Hint`)}
        </ConfirmModal>
      )}
    </>
  );
}
