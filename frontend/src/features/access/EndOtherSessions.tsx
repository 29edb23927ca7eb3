import { ConfirmModal } from '@/components/ConfirmModal';
import { useT } from '@/lib/i18n/context';
import { useOtherSessionsEnd } from './api';

export function EndOtherSessions({ onClose }: { onClose: () => void }) {
  const t = useT();
  const end = useOtherSessionsEnd();
  return (
    <ConfirmModal
      title={t('access.endOthersTitle')}
      confirm={t('access.endOthers')}
      error={end.error}
      isBusy={end.isPending}
      onConfirm={() => end.mutate(undefined, { onSuccess: onClose })}
      onClose={onClose}
    >
      {t('access.endOthersHint')}
    </ConfirmModal>
  );
}
