import { Button, Group, Stack } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { useState } from 'react';
import { useChangeCreate, type Timing } from '@/api/changes';
import { instanceQuery } from '@/api/instances';
import type { components } from '@/api/schema.gen';
import { ChangeLines } from '@/components/ChangeLines';
import { ErrorPanel } from '@/components/ErrorPanel';
import { FindingList } from '@/components/FindingList';
import { Panel } from '@/components/Panel';
import { StatusBadge } from '@/components/StatusBadge';
import { TimingPicker } from '@/components/TimingPicker';
import { useT } from '@/lib/i18n/context';

interface RulesReviewProps {
  instanceId: string;
  preview: components['schemas']['RulesPreview'];
  /** True if the rows were edited after the preview was made, which then no longer fits them. */
  isOutdated: boolean;
  onDiscard: () => void;
}

/** The review of the change set that the edited rules make: what it would do, and the choice when it runs. */
export function RulesReview({ instanceId, preview, isOutdated, onDiscard }: RulesReviewProps) {
  const t = useT();
  const navigate = useNavigate();
  const { data: instance } = useQuery(instanceQuery(instanceId));
  const [timing, setTiming] = useState<Timing>({ when: 'now', at: null });
  const create = useChangeCreate(
    ({ id }) =>
      void navigate({
        to: '/instances/$instanceId/changes/$changeId',
        params: { instanceId, changeId: id },
      }),
  );
  const { change, text } = preview;
  const isBlocked = change === null || change.is_blocked;
  const apply = () =>
    create.mutate({ instanceId, parameters: { fqc_rules: text }, allowRestart: false, timing, note: '' });
  return (
    <Panel title={t('ruleEdit.review')}>
      <Stack gap="sm">
        {change && <ChangeLines lines={change.lines} />}
        {change && <FindingList findings={change.findings} />}
        {instance && (
          <TimingPicker window={instance.maintenance_window} timing={timing} onChange={setTiming} />
        )}
        {create.isError && <ErrorPanel error={create.error} />}
        <Group justify="flex-end" gap="xs">
          {isBlocked && <StatusBadge tone="danger">{t('review.blocked')}</StatusBadge>}
          <Button variant="default" onClick={onDiscard}>
            {t('ruleEdit.discard')}
          </Button>
          <Button disabled={isBlocked || isOutdated} loading={create.isPending} onClick={apply}>
            {t(timing.when === 'now' ? 'review.applyNow' : 'review.schedule')}
          </Button>
        </Group>
      </Stack>
    </Panel>
  );
}
