import { Alert } from '@mantine/core';
import type { Change } from '@/api/changes';
import { IconAlertTriangle, IconClock } from '@/components/icons';
import { EnglishText } from '@/components/EnglishText';
import { useI18n, useApiText } from '@/lib/i18n/context';
import { formatLocal } from '@/lib/time';
import classes from './changes.module.css';

/**
 * Why a change set ended as it did, or what it waits for: an administrator, a second person, or its time. Nothing
 * otherwise.
 */
export function ChangeOutcome({ change }: { change: Change }) {
  const { t, locale } = useI18n();
  const isBad = change.state === 'failed' || change.state === 'rolled_back';
  if (change.outcome_detail) {
    return (
      <Alert
        className={classes.outcome}
        variant="light"
        color={isBad ? 'red' : 'gray'}
        icon={<IconAlertTriangle size={18} />}
        c="inherit"
      >
        <Outcome change={change} />
      </Alert>
    );
  }
  if (change.state === 'previewed' && (change.needs_second_person || change.needs_admin)) {
    return (
      <Alert className={classes.outcome} variant="light" icon={<IconClock size={18} />} c="inherit">
        {change.needs_admin && <div>{t('change.needsAdmin')}</div>}
        {change.needs_second_person && <div>{t('change.needsSecond')}</div>}
      </Alert>
    );
  }
  if (change.state === 'approved' && change.not_before && change.when !== 'now') {
    return (
      <Alert className={classes.outcome} variant="light" icon={<IconClock size={18} />} c="inherit">
        {t('change.waiting', { time: formatLocal(change.not_before, locale) })}
      </Alert>
    );
  }
  return null;
}

function Outcome({ change }: { change: Change }) {
  const title = useApiText()(`problem.${change.outcome_code}`, '');
  if (!title) return change.outcome_detail;
  return (
    <>
      {title}
      <EnglishText>{change.outcome_detail}</EnglishText>
    </>
  );
}
