import type { Finding } from '@/api/changes';
import type { components } from '@/api/schema.gen';
import { FindingList } from '@/components/FindingList';
import { IconArrowRight } from '@/components/icons';
import { Identifier } from '@/components/Identifier';
import { ParameterValue } from '@/components/ParameterValue';
import { useT } from '@/lib/i18n/context';
import classes from './rollouts.module.css';

/** Up to this many instances, the table shows the changes of each one unfolded. */
export const MOST_UNFOLDED = 10;

type Line = components['schemas']['FleetApplyLine'];

interface LinesCellProps {
  lines: Line[];
  blocking?: string[];
  /** Blocking problems and advice, each with its fix. If there are any, they are shown instead of `blocking`. */
  findings?: Finding[];
  /** True to show old and new values at once, for few instances. Otherwise a click unfolds them. */
  isOpen: boolean;
}

/**
 * The changes that a fleet apply would make on one instance (`lines`, one for each parameter), or the reasons why it
 * cannot (`blocking`).
 */
export function LinesCell({ lines, blocking = [], findings = [], isOpen }: LinesCellProps) {
  if (findings.length)
    return (
      <>
        {blocking.length === 0 && <Lines lines={lines} isOpen={isOpen} />}
        <FindingList findings={findings} />
      </>
    );
  if (blocking.length)
    return blocking.map((reason) => (
      <div key={reason} className={classes.blocking}>
        {reason}
      </div>
    ));
  return <Lines lines={lines} isOpen={isOpen} />;
}

function Lines({ lines, isOpen }: { lines: Line[]; isOpen: boolean }) {
  const t = useT();
  if (lines.length === 0) return '–';
  return (
    <details className={classes.lines} open={isOpen}>
      <summary>{lines.map(({ name }) => name).join(', ')}</summary>
      <ul>
        {lines.map((line) => (
          <li key={line.name}>
            <Identifier name={line.name} />{' '}
            {line.old_value === null && line.old_submitted === null ? (
              <span title={t('rollout.oldUnknownHint')}>{t('rollout.oldUnknown')}</span>
            ) : (
              <ParameterValue value={line.old_value ?? line.old_submitted} unit={line.unit} />
            )}{' '}
            <IconArrowRight size={12} aria-label={t('change.becomes')} />{' '}
            <ParameterValue
              value={line.new_submitted ?? line.new_value}
              resolved={line.new_value}
              unit={line.unit}
            />
          </li>
        ))}
      </ul>
    </details>
  );
}
