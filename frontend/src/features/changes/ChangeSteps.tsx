import { Loader, Progress } from '@mantine/core';
import type { Change } from '@/api/changes';
import { IconArrowRight } from '@/components/icons';
import { ParameterValue } from '@/components/ParameterValue';
import { ToneIcon } from '@/components/StatusBadge';
import { isOver } from './isOver';
import { useT } from '@/lib/i18n/context';
import type { Tone } from '@/lib/tone';
import classes from './changes.module.css';

type Step = Change['steps'][number];

const TONES: Record<Step['state'], Tone> = {
  pending: 'neutral',
  running: 'info',
  done: 'ok',
  failed: 'danger',
  undone: 'warn',
};

export function ChangeSteps({ change }: { change: Change }) {
  const t = useT();
  if (change.steps.length === 0) return <p className={classes.none}>{t('change.noSteps')}</p>;
  const { done = 0, total = 0 } = change.progress;
  const unitOf = (name: string) => change.lines.find((line) => line.name === name)?.unit;
  return (
    <>
      <div className={classes.progress} role="status">
        <Progress
          value={total ? (done / total) * 100 : 100}
          aria-label={t('change.steps')}
          size="sm"
          flex={1}
        />
        <span>{t('change.progress', { done, total })}</span>
      </div>
      <ol className={classes.steps}>
        {change.steps.map((step) => (
          <StepItem key={step.position} step={step} unit={unitOf(step.name)} isOver={isOver(change)} />
        ))}
      </ol>
    </>
  );
}

interface StepItemProps {
  step: Step;
  unit: string | undefined;
  /** True if the change has ended, so that steps which have not started will not run. */
  isOver: boolean;
}

function StepItem({ step, unit, isOver }: StepItemProps) {
  const t = useT();
  const state = isOver && step.state === 'pending' ? 'skipped' : step.state;
  return (
    <li className={classes.step} data-state={step.state}>
      {step.state === 'running' ? <Loader size={16} /> : <ToneIcon tone={TONES[step.state]} />}
      <div className={classes.stepText}>
        <div>
          {t(`change.step.${step.kind}`, { name: step.name || (step.new ?? '') })}{' '}
          <span className={classes.stepState}>{t(`change.stepState.${state}`)}</span>
        </div>
        {step.kind === 'set_global' && (
          <div className={classes.values}>
            <ParameterValue value={step.old} unit={unit} />
            <IconArrowRight size={13} aria-label={t('change.becomes')} />
            <ParameterValue value={step.new} unit={unit} />
          </div>
        )}
        {step.detail && <div className={classes.detail}>{step.detail}</div>}
      </div>
    </li>
  );
}
