// The review before a change is applied: old and new values, resolved values, restarts, findings and timing.
import { Button, Drawer, Group, Stack, TextInput } from '@mantine/core';
import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { useState } from 'react';
import { previewChange, useChangeCreate, type ChangePreview, type Timing } from '@/api/changes';
import type { Instance } from '@/api/instances';
import { AllowRestart } from '@/components/AllowRestart';
import { ChangeLines } from '@/components/ChangeLines';
import { EmptyState } from '@/components/EmptyState';
import { ErrorPanel } from '@/components/ErrorPanel';
import { FindingList } from '@/components/FindingList';
import { QueryView } from '@/components/QueryView';
import { StatusBadge } from '@/components/StatusBadge';
import { TimingPicker } from '@/components/TimingPicker';
import { useT } from '@/lib/i18n/context';
import type { Draft } from './useDraft';
import classes from './parameters.module.css';

interface ReviewDrawerProps {
  instance: Instance;
  draft: Draft;
  isOpen: boolean;
  onClose: () => void;
}

export function ReviewDrawer({ instance, draft, isOpen, onClose }: ReviewDrawerProps) {
  const t = useT();
  const hasDraft = Object.keys(draft.values).length > 0;
  return (
    <Drawer
      opened={isOpen && hasDraft}
      onClose={onClose}
      size={560}
      title={t('review.title', { name: instance.name })}
    >
      {isOpen && hasDraft && <Review instance={instance} draft={draft} onClose={onClose} />}
    </Drawer>
  );
}

function Review({ instance, draft, onClose }: Omit<ReviewDrawerProps, 'isOpen'>) {
  const t = useT();
  const [allowRestart, setAllowRestart] = useState(false);
  const request = { instanceId: instance.id, parameters: draft.values, allowRestart };
  const preview = useQuery({
    queryKey: ['preview', request],
    queryFn: () => previewChange(request),
    placeholderData: keepPreviousData,
    staleTime: 0,
    gcTime: 0,
  });
  return (
    <QueryView query={preview}>
      {(data) => (
        <Stack gap="md">
          {preview.isError && <ErrorPanel error={preview.error} />}
          {data.lines.length > 0 ? (
            <ChangeLines lines={data.lines} />
          ) : (
            <EmptyState title={t('review.nothing')} hint={t('review.nothingHint')} />
          )}
          {data.findings.length > 0 && <FindingList findings={data.findings} />}
          <PlannedSteps preview={data} />
          {instance.provider === 'local' && (
            <AllowRestart lines={data.lines} isAllowed={allowRestart} onChange={setAllowRestart} />
          )}
          <ApplyForm
            isBlocked={data.is_blocked}
            isEmpty={data.lines.length === 0}
            instance={instance}
            draft={draft}
            allowRestart={allowRestart}
            onClose={onClose}
          />
        </Stack>
      )}
    </QueryView>
  );
}

function PlannedSteps({ preview }: { preview: ChangePreview }) {
  const t = useT();
  if (preview.steps.length === 0) return null;
  return (
    <details className={classes.steps}>
      <summary>{t('review.steps', { count: preview.steps.length })}</summary>
      <ol>
        {preview.steps.map((step) => (
          <li key={step.position}>
            {t(`change.step.${step.kind}`, { name: step.name || (step.new ?? '') })}
            {step.kind === 'set_global' && ` = ${step.new ?? ''}`}
          </li>
        ))}
      </ol>
    </details>
  );
}

interface ApplyFormProps {
  instance: Instance;
  draft: Draft;
  isBlocked: boolean;
  /** True if the server already has all of the drafted values, so that there is nothing to apply. */
  isEmpty: boolean;
  allowRestart: boolean;
  onClose: () => void;
}

function ApplyForm({ instance, draft, isBlocked, isEmpty, allowRestart, onClose }: ApplyFormProps) {
  const t = useT();
  const navigate = useNavigate();
  const create = useChangeCreate((change) => {
    draft.clear();
    const params = { instanceId: instance.id, changeId: change.id };
    void navigate({ to: '/instances/$instanceId/changes/$changeId', params });
  });
  const [timing, setTiming] = useState<Timing>({ when: 'now', at: null });
  const [note, setNote] = useState('');
  const apply = () =>
    create.mutate({ instanceId: instance.id, parameters: draft.values, allowRestart, timing, note });
  return (
    <Stack gap="sm">
      <TimingPicker window={instance.maintenance_window} timing={timing} onChange={setTiming} />
      <TextInput
        label={t('change.note')}
        placeholder={t('review.notePlaceholder')}
        value={note}
        onChange={(event) => setNote(event.currentTarget.value)}
      />
      {create.isError && <ErrorPanel error={create.error} />}
      <Group justify="flex-end" gap="xs">
        {isBlocked && <StatusBadge tone="danger">{t('review.blocked')}</StatusBadge>}
        <Button variant="default" onClick={onClose}>
          {t('review.back')}
        </Button>
        <Button disabled={isBlocked || isEmpty} loading={create.isPending} onClick={apply}>
          {t(timing.when === 'now' ? 'review.applyNow' : 'review.schedule')}
        </Button>
      </Group>
    </Stack>
  );
}
