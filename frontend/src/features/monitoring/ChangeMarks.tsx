import { TextLink } from '@/components/links';
import { Moment } from '@/components/Moment';
import { useT } from '@/lib/i18n/context';
import type { ChangeMark } from './useChangeMarks';
import classes from './monitoring.module.css';

const LISTED = 8;

/**
 * Links to the change sets that are marked on the charts, since the marks themselves cannot be reached by keyboard.
 * Nothing if there are none.
 */
export function ChangeMarks({ instanceId, marks }: { instanceId: string; marks: ChangeMark[] }) {
  const t = useT();
  if (marks.length === 0) return null;
  return (
    <nav className={classes.marks} aria-label={t('monitoring.changes')}>
      <span className={classes.marksTitle}>▾ {t('monitoring.changes')}</span>
      {marks.slice(0, LISTED).map(({ id, kind, at }) => (
        <span key={id}>
          <TextLink
            to="/instances/$instanceId/changes/$changeId"
            params={{ instanceId, changeId: id }}
            isInText
          >
            {t(`change.kind.${kind}`)}
          </TextLink>{' '}
          <Moment at={at} />
        </span>
      ))}
      {marks.length > LISTED && (
        <TextLink to="/instances/$instanceId/history" params={{ instanceId }}>
          {t('monitoring.moreChanges', { count: marks.length - LISTED })}
        </TextLink>
      )}
    </nav>
  );
}
