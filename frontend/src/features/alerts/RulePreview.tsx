import { useDebouncedValue } from '@mantine/hooks';
import { useQuery } from '@tanstack/react-query';
import { ErrorPanel } from '@/components/ErrorPanel';
import { Moment } from '@/components/Moment';
import { ToneIcon } from '@/components/StatusBadge';
import { useT } from '@/lib/i18n/context';
import { rulePreviewQuery, type RuleRequest } from './api';
import classes from './alerts.module.css';

const PAUSE_MS = 500;
const SHOWN = 5;

interface RulePreviewProps {
  request: RuleRequest;
  /** The id of the only instance to look at. Absent means all that the rule watches. */
  instance?: string;
}

/**
 * Shows when a rule with these settings would have fired over the past day. Follows the edits after a pause in typing;
 * nothing is stored.
 */
export function RulePreview({ request, instance }: RulePreviewProps) {
  const t = useT();
  const [settled] = useDebouncedValue(request, PAUSE_MS, { leading: true });
  const preview = useQuery({
    ...rulePreviewQuery({ ...settled, name: settled.name || '-', recipients: [] }),
    retry: false,
  });
  if (preview.isError) return <ErrorPanel error={preview.error} />;
  if (!preview.data) return <div className={classes.preview}>{t('state.loading')}</div>;
  const { examined_count, instance_count, hours } = preview.data;
  const firings = preview.data.firings.filter(({ instance_id }) => !instance || instance_id === instance);
  return (
    <div className={classes.preview} role="status">
      <div className={classes.previewHead}>
        <ToneIcon tone={firings.length ? 'warn' : 'ok'} />
        {hours
          ? t('rules.wouldHaveFired', { count: firings.length, hours })
          : t('rules.holdsNow', { count: firings.length })}
        {!instance && (
          <span className={classes.muted}>
            {t('rules.examined', { examined: examined_count, all: instance_count })}
          </span>
        )}
      </div>
      <ul>
        {firings.slice(0, SHOWN).map((firing) => (
          <li key={`${firing.instance_id}:${firing.opened_at}`}>
            {firing.instance_name}
            {hours > 0 && (
              <>
                {', '}
                <Moment at={firing.opened_at} />
              </>
            )}
            {hours === 0 ? null : firing.resolved_at ? (
              <>
                {' – '}
                <Moment at={firing.resolved_at} />
              </>
            ) : (
              ` · ${t('rules.stillOpen')}`
            )}
          </li>
        ))}
      </ul>
    </div>
  );
}
