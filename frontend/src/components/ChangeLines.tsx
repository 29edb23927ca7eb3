import type { ChangeLine } from '@/api/changes';
import { useT } from '@/lib/i18n/context';
import { IconArrowRight } from './icons';
import { ParameterValue } from './ParameterValue';
import { StatusBadge } from './StatusBadge';
import classes from './ChangeLines.module.css';

/**
 * The parameters that a change set alters, each with its old and its new value. A value is shown as it was submitted,
 * such as an expression, together with the value that it resolves to.
 */
export function ChangeLines({ lines }: { lines: ChangeLine[] }) {
  const t = useT();
  return (
    <ul className={classes.list}>
      {lines.map((line) => (
        <li key={line.name} className={classes.line}>
          <div className={classes.name}>
            <code>{line.name}</code>
            {line.needs_restart && <StatusBadge tone="warn">{t('change.needsRestart')}</StatusBadge>}
          </div>
          <div className={classes.values}>
            <ParameterValue
              value={line.old_submitted ?? line.old_value}
              running={line.old_value}
              unit={line.unit}
            />
            <IconArrowRight size={14} aria-label={t('change.becomes')} />
            {line.new_submitted === null && <span className={classes.reset}>{t('change.default')}</span>}
            <ParameterValue
              value={line.new_submitted ?? line.new_value}
              resolved={line.new_value}
              unit={line.unit}
            />
          </div>
        </li>
      ))}
    </ul>
  );
}
