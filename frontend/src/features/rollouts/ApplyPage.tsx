import {
  Button,
  Group,
  Input,
  NumberInput,
  SegmentedControl,
  Select,
  SimpleGrid,
  Stack,
  Switch,
  Textarea,
  TextInput,
} from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { useNavigate, useSearch } from '@tanstack/react-router';
import { useState, type ReactNode } from 'react';
import type { Timing } from '@/api/changes';
import { useCan } from '@/api/session';
import { ErrorPanel } from '@/components/ErrorPanel';
import { RestoredNotice } from '@/components/RestoredNotice';
import { TextLink } from '@/components/links';
import { PageHeader } from '@/components/PageHeader';
import { Panel } from '@/components/Panel';
import { QueryView } from '@/components/QueryView';
import { TimingPicker } from '@/components/TimingPicker';
import { useT } from '@/lib/i18n/context';
import { useStoredForm } from '@/lib/useStoredForm';
import {
  fleetPreviewQuery,
  templateChoicesQuery,
  useFleetApplyStart,
  type FleetPreviewItem,
  type Selection,
} from './api';
import { FleetAppliesPanel } from './FleetAppliesPanel';
import { PreviewTable } from './PreviewTable';
import { isTargetComplete, selectionOf, tallyOf, type Target, type TargetKind } from './target';
import classes from './rollouts.module.css';

export function ApplyPage() {
  const t = useT();
  const search = useSearch({ from: '/console/templates/apply' });
  const navigate = useNavigate({ from: '/templates/apply' });
  const { data: templates = [], isError: hasNoChoices } = useQuery(templateChoicesQuery);
  const chosen = search.instances ?? '';
  const [target, setTarget, forget, startOver] = useStoredForm<Target>(`apply.${chosen}`, () => ({
    kind: 'instances',
    instances: chosen.replaceAll(',', '\n'),
    tags: '',
  }));
  const [isUpgrade, setIsUpgrade] = useState(false);
  const [allowRestart, setAllowRestart] = useState(false);
  const [previewed, setPreviewed] = useState<Selection>();
  const set = (next: Partial<Target>) => setTarget((old) => ({ ...old, ...next }));
  const template = isUpgrade ? null : search.template;
  const isReady = template !== undefined && isTargetComplete(target);
  return (
    <>
      <PageHeader
        eyebrow={<TextLink to="/templates">{t('templates.title')}</TextLink>}
        title={t('rollout.title')}
        description={t('rollout.description')}
      />
      <Stack gap="md">
        <Panel title={t('rollout.what')}>
          <Stack gap="sm">
            <RestoredNotice onStartOver={startOver} />
            <SimpleGrid cols={{ base: 1, sm: 2 }} spacing="md">
              <Choice
                label={t('rollout.kind')}
                value={isUpgrade ? 'upgrade' : 'parameters'}
                onChange={(kind) => setIsUpgrade(kind === 'upgrade')}
                data={(['parameters', 'upgrade'] as const).map((value) => ({
                  value,
                  label: t(`rollout.kind.${value}`),
                }))}
              >
                {isUpgrade ? (
                  <p className={classes.gates}>{t('rollout.gates')}</p>
                ) : (
                  <Select
                    size="xs"
                    aria-label={t('rollout.template')}
                    placeholder={t('rollout.template')}
                    searchable
                    data={templates.map(({ id, name }) => ({ value: id, label: name }))}
                    value={template ?? null}
                    error={hasNoChoices && t('error.choices')}
                    onChange={(next) =>
                      void navigate({
                        search: (old) => ({ ...old, template: next ?? undefined }),
                        replace: true,
                      })
                    }
                  />
                )}
              </Choice>
              <Choice
                label={t('rollout.target')}
                value={target.kind}
                onChange={(kind) => set({ kind: kind as TargetKind })}
                data={(['instances', 'tags', 'every'] as const).map((value) => ({
                  value,
                  label: t(`rollout.target.${value}`),
                }))}
              >
                {target.kind === 'instances' && (
                  <Textarea
                    size="xs"
                    autosize
                    minRows={2}
                    maxRows={8}
                    aria-label={t('rollout.instances')}
                    placeholder={t('rollout.instances')}
                    value={target.instances}
                    onChange={(event) => set({ instances: event.currentTarget.value })}
                  />
                )}
                {target.kind === 'tags' && (
                  <TextInput
                    aria-label={t('instance.tags')}
                    placeholder={t('tags.hint')}
                    value={target.tags}
                    onChange={(event) => set({ tags: event.currentTarget.value })}
                  />
                )}
              </Choice>
            </SimpleGrid>
            <Group justify="space-between">
              <Switch
                label={t(isUpgrade ? 'rollout.allowRestart' : 'review.allowRestart')}
                checked={allowRestart}
                onChange={(event) => setAllowRestart(event.currentTarget.checked)}
              />
              <Button
                disabled={!isReady}
                onClick={() =>
                  template !== undefined && setPreviewed(selectionOf(template, target, allowRestart))
                }
              >
                {t('rollout.preview')}
              </Button>
            </Group>
          </Stack>
        </Panel>
        {previewed && <FleetPreview key={previewed.kind} selection={previewed} onStarted={forget} />}
        <FleetAppliesPanel />
      </Stack>
    </>
  );
}

interface ChoiceProps {
  label: string;
  value: string;
  data: { value: string; label: string }[];
  onChange: (value: string) => void;
  children: ReactNode;
}

/** A labelled choice between a few options, with further inputs for the chosen one (`children`) below it. */
function Choice({ label, children, ...control }: ChoiceProps) {
  return (
    <Input.Wrapper label={label} labelElement="div">
      <SegmentedControl size="xs" fullWidth mb={8} aria-label={label} {...control} />
      {children}
    </Input.Wrapper>
  );
}

function FleetPreview({ selection, onStarted }: { selection: Selection; onStarted: () => void }) {
  const t = useT();
  const canChange = useCan('operator');
  const preview = useQuery(fleetPreviewQuery(selection));
  return (
    <Panel title={t('rollout.previewOf')} flush>
      <QueryView query={preview}>
        {(data) => (
          <>
            <PreviewTable items={data.items} />
            {canChange ? (
              <StartForm selection={selection} items={data.items} onStarted={onStarted} />
            ) : (
              <p className={classes.denied}>{t('rollout.operatorOnly')}</p>
            )}
          </>
        )}
      </QueryView>
    </Panel>
  );
}

interface StartFormProps {
  selection: Selection;
  items: FleetPreviewItem[];
  onStarted: () => void;
}

function StartForm({ selection, items, onStarted }: StartFormProps) {
  const t = useT();
  const navigate = useNavigate();
  const start = useFleetApplyStart(({ id }) => {
    onStarted();
    void navigate({ to: '/fleet-applies/$applyId', params: { applyId: id } });
  });
  const isUpgrade = selection.kind === 'upgrade';
  const [parallelism, setParallelism] = useState(isUpgrade ? 1 : 5);
  const [settleSeconds, setSettleSeconds] = useState(120);
  const [maxP95Percent, setMaxP95Percent] = useState<number | ''>('');
  const [maxFailures, setMaxFailures] = useState(0);
  const [timing, setTiming] = useState<Timing>({ when: 'now', at: null });
  const { differing } = tallyOf(items);
  const run = () =>
    start.mutate({
      ...selection,
      ...timing,
      parallelism,
      max_failures: maxFailures,
      settle_seconds: settleSeconds,
      max_p95_percent: maxP95Percent || null,
      note: '',
      start: true,
    });
  return (
    <Stack gap="sm" p="md">
      {start.isError && <ErrorPanel error={start.error} />}
      <div className={classes.timing}>
        <TimingPicker timing={timing} onChange={setTiming} />
      </div>
      <Group align="flex-end" gap="sm">
        <NumberInput
          label={t(isUpgrade ? 'rollout.wave' : 'rollout.parallelism')}
          min={1}
          max={100}
          w={130}
          value={parallelism}
          onChange={(value) => setParallelism(Number(value) || 1)}
        />
        {isUpgrade && (
          <NumberInput
            label={t('rollout.settle')}
            min={0}
            max={86_400}
            w={190}
            value={settleSeconds}
            onChange={(value) => setSettleSeconds(Number(value) || 0)}
          />
        )}
        {isUpgrade && (
          <NumberInput
            label={t('rollout.maxP95')}
            min={100}
            max={100_000}
            w={210}
            placeholder={t('rollout.anyP95')}
            value={maxP95Percent}
            onChange={(value) => setMaxP95Percent(Number(value) || '')}
          />
        )}
        <NumberInput
          label={t('rollout.maxFailures')}
          min={0}
          w={170}
          value={maxFailures}
          onChange={(value) => setMaxFailures(Number(value) || 0)}
        />
        <Button disabled={differing === 0} loading={start.isPending} onClick={run}>
          {t(timing.when === 'now' ? 'rollout.start' : 'rollout.schedule', { count: differing })}
        </Button>
      </Group>
    </Stack>
  );
}
