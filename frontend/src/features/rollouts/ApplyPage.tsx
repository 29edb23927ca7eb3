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
import { useState } from 'react';
import { useCan } from '@/api/session';
import { ErrorPanel } from '@/components/ErrorPanel';
import { KeptNotice } from '@/components/KeptNotice';
import { TextLink } from '@/components/links';
import { PageHeader } from '@/components/PageHeader';
import { Panel } from '@/components/Panel';
import { QueryView } from '@/components/QueryView';
import { useT } from '@/lib/i18n/context';
import { useKept } from '@/lib/useKept';
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
  const [target, setTarget, forget, startOver] = useKept<Target>(`apply.${chosen}`, () => ({
    kind: 'instances',
    instances: chosen.replaceAll(',', '\n'),
    tags: '',
  }));
  const [allowRestart, setAllowRestart] = useState(false);
  const [previewed, setPreviewed] = useState<Selection>();
  const set = (next: Partial<Target>) => setTarget((old) => ({ ...old, ...next }));
  const template = search.template;
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
            <KeptNotice onStartOver={startOver} />
            <SimpleGrid cols={{ base: 1, sm: 2 }} spacing="md">
              <Select
                label={t('rollout.template')}
                searchable
                data={templates.map(({ id, name }) => ({ value: id, label: name }))}
                value={template ?? null}
                error={hasNoChoices && t('error.choices')}
                onChange={(next) =>
                  void navigate({ search: (old) => ({ ...old, template: next ?? undefined }), replace: true })
                }
              />
              <Input.Wrapper label={t('rollout.target')} labelElement="div">
                <SegmentedControl
                  size="xs"
                  fullWidth
                  mb={8}
                  aria-label={t('rollout.target')}
                  value={target.kind}
                  onChange={(kind) => set({ kind: kind as TargetKind })}
                  data={(['instances', 'tags', 'every'] as const).map((value) => ({
                    value,
                    label: t(`rollout.target.${value}`),
                  }))}
                />
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
              </Input.Wrapper>
            </SimpleGrid>
            <Group justify="space-between">
              <Switch
                label={t('review.allowRestart')}
                checked={allowRestart}
                onChange={(event) => setAllowRestart(event.currentTarget.checked)}
              />
              <Button
                disabled={!isReady}
                onClick={() => template && setPreviewed(selectionOf(template, target, allowRestart))}
              >
                {t('rollout.preview')}
              </Button>
            </Group>
          </Stack>
        </Panel>
        {previewed && <FleetPreview selection={previewed} onStarted={forget} />}
        <FleetAppliesPanel />
      </Stack>
    </>
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
  const [parallelism, setParallelism] = useState(5);
  const [maxFailures, setMaxFailures] = useState(0);
  const { differing } = tallyOf(items);
  const run = () =>
    start.mutate({ ...selection, parallelism, max_failures: maxFailures, note: '', start: true });
  return (
    <Stack gap="sm" p="md">
      {start.isError && <ErrorPanel error={start.error} />}
      <Group align="flex-end" gap="sm">
        <NumberInput
          label={t('rollout.parallelism')}
          min={1}
          max={100}
          w={130}
          value={parallelism}
          onChange={(value) => setParallelism(Number(value) || 1)}
        />
        <NumberInput
          label={t('rollout.maxFailures')}
          min={0}
          w={170}
          value={maxFailures}
          onChange={(value) => setMaxFailures(Number(value) || 0)}
        />
        <Button disabled={differing === 0} loading={start.isPending} onClick={run}>
          {t('rollout.start', { count: differing })}
        </Button>
      </Group>
    </Stack>
  );
}
