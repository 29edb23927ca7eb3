import { Button, Group, Stepper } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { useNavigate, useSearch } from '@tanstack/react-router';
import {
  cacheAdviceQuery,
  classQuery,
  instanceParametersQuery,
  instanceQuery,
  prerequisitesQuery,
} from '@/api/instances';
import { useCan } from '@/api/session';
import { percentCourse as course } from '@/charts/Sparkline';
import { Panel } from '@/components/Panel';
import { Recommendation } from '@/components/Recommendation';
import { useT } from '@/lib/i18n/context';
import { useStoredForm } from '@/lib/useStoredForm';
import { CheckStep } from './CheckStep';
import { ReviewStep } from './ReviewStep';
import { initialSizing, isSizingComplete, isTooLarge, largestSize, withRule } from './sizing';
import { SizeStep } from './SizeStep';
import { TrialStep } from './TrialStep';
import classes from './cache.module.css';

const STEPS = ['check', 'observe', 'size', 'trial', 'review'] as const;

export function EnableFlow({ instanceId }: { instanceId: string }) {
  const t = useT();
  const { step = 0 } = useSearch({ from: '/console/instances/$instanceId/cache' });
  const navigate = useNavigate({ from: '/instances/$instanceId/cache' });
  const canChange = useCan('operator');
  const { data: check } = useQuery(prerequisitesQuery(instanceId));
  const { data: advice } = useQuery(cacheAdviceQuery(instanceId));
  const [chosen, setChosen] = useStoredForm(`sizing.${instanceId}`, () => initialSizing);
  const sizing = withRule(chosen, advice?.sizes);
  const largest = useLargestSize(instanceId);
  const isReady = check?.is_ready ?? false;
  const go = (next: number) => void navigate({ search: { step: next } });
  const mayGoOn =
    [isReady, true, isSizingComplete(sizing) && !isTooLarge(sizing, largest), true, false][step] ?? false;
  return (
    <Panel title={t('enable.title')} description={t('enable.description')}>
      <Stepper
        active={step}
        onStepClick={go}
        size="xs"
        mb="md"
        allowNextStepsSelect={isReady}
        classNames={{ steps: classes.steps, separator: classes.separator }}
      >
        {STEPS.map((name) => (
          <Stepper.Step key={name} label={t(`enable.step.${name}`)} />
        ))}
      </Stepper>
      {step === 0 && <CheckStep instanceId={instanceId} />}
      {step === 1 && <Recommendation instanceId={instanceId} course={course} />}
      {step === 2 && (
        <SizeStep
          instanceId={instanceId}
          sizing={sizing}
          largest={largest}
          onChange={(next) => setChosen(() => next)}
        />
      )}
      {step === 3 && <TrialStep instanceId={instanceId} />}
      {step === 4 && <ReviewStep instanceId={instanceId} sizing={sizing} canApply={canChange && isReady} />}
      <Group justify="space-between" className={classes.foot}>
        <Button variant="default" disabled={step === 0} onClick={() => go(step - 1)}>
          {t('action.back')}
        </Button>
        {step < 4 && (
          <Button disabled={!mayGoOn} onClick={() => go(step + 1)}>
            {t('action.next')}
          </Button>
        )}
      </Group>
    </Panel>
  );
}

function useLargestSize(instanceId: string): number | undefined {
  const { data: instance } = useQuery(instanceQuery(instanceId));
  const { data: parameters } = useQuery(instanceParametersQuery(instanceId));
  const name = instance?.instance_class ?? '';
  const { data: found } = useQuery({ ...classQuery(name), enabled: name !== '' });
  const size = parameters?.data.items.find((row) => row.name === 'query_cache_size');
  return largestSize(size?.allowed, found?.variables.DBInstanceClassMemory);
}
