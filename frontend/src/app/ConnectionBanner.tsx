import { Button } from '@mantine/core';
import { connection } from '@/api/connection';
import { useIsConnectionLost, useRefetchAfterOutage } from '@/api/useConnection';
import { IconPlugConnectedX } from '@/components/icons';
import { useT } from '@/lib/i18n/context';
import classes from './Shell.module.css';

export function ConnectionBanner() {
  const t = useT();
  useRefetchAfterOutage();
  if (!useIsConnectionLost()) return null;
  return (
    <div className={classes.bannerPlace}>
      <div className={classes.banner} role="alert">
        <IconPlugConnectedX size={18} aria-hidden="true" />
        <span>{t('connection.lost')}</span>
        <Button variant="default" size="compact-xs" onClick={() => void connection.retryNow()}>
          {t('action.retry')}
        </Button>
      </div>
    </div>
  );
}
