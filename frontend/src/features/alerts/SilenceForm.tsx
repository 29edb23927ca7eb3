import { Button, Group, Modal, Select, Stack, TextInput } from '@mantine/core';
import { useState, type FormEvent } from 'react';
import { fieldMessage } from '@/api/errors';
import { ErrorPanel } from '@/components/ErrorPanel';
import { InstanceSelect } from '@/components/InstanceSelect';
import { useT } from '@/lib/i18n/context';
import { formatDuration } from '@/lib/number';
import { readTags } from '@/lib/tags';
import { useSilenceCreate, type AlertRule } from './api';

const DURATIONS_SECONDS = [3600, 4 * 3600, 12 * 3600, 86400, 7 * 86400];

export function SilenceForm({ rules, onClose }: { rules: AlertRule[]; onClose: () => void }) {
  const t = useT();
  const create = useSilenceCreate();
  const [reason, setReason] = useState('');
  const [ruleId, setRuleId] = useState<string | null>(null);
  const [instanceId, setInstanceId] = useState<string>();
  const [tags, setTags] = useState('');
  const [duration, setDuration] = useState(String(DURATIONS_SECONDS[0]));
  const submit = (event: FormEvent) => {
    event.preventDefault();
    create.mutate(
      {
        reason,
        rule_id: ruleId,
        instance_id: instanceId ?? null,
        tags: readTags(tags) ?? {},
        duration_seconds: Number(duration),
      },
      { onSuccess: onClose },
    );
  };
  return (
    <Modal opened onClose={onClose} title={t('silences.new')}>
      <form onSubmit={submit}>
        <Stack gap="sm">
          {create.isError && <ErrorPanel error={create.error} />}
          <TextInput
            label={t('silences.reason')}
            required
            data-autofocus
            value={reason}
            error={fieldMessage(create.error, 'reason')}
            onChange={(event) => setReason(event.currentTarget.value)}
          />
          <Select
            label={t('incidents.rule')}
            placeholder={t('silences.everyRule')}
            clearable
            data={rules.map(({ id, name }) => ({ value: id, label: name }))}
            value={ruleId}
            onChange={setRuleId}
          />
          <InstanceSelect
            label={t('rules.instance')}
            placeholder={t('silences.everyInstance')}
            value={instanceId}
            error={fieldMessage(create.error, 'instance_id')}
            onChange={setInstanceId}
          />
          <TextInput
            label={t('instance.tags')}
            description={t('addInstance.tagsHint')}
            value={tags}
            error={readTags(tags) ? fieldMessage(create.error, 'tags') : t('addInstance.tagsHint')}
            onChange={(event) => setTags(event.currentTarget.value)}
          />
          <Select
            label={t('silences.duration')}
            data={DURATIONS_SECONDS.map((seconds) => ({
              value: String(seconds),
              label: formatDuration(seconds),
            }))}
            value={duration}
            onChange={(next) => setDuration(next ?? duration)}
          />
          <Group justify="flex-end" gap="xs">
            <Button variant="default" onClick={onClose}>
              {t('action.cancel')}
            </Button>
            <Button type="submit" loading={create.isPending} disabled={!readTags(tags)}>
              {t('action.create')}
            </Button>
          </Group>
        </Stack>
      </form>
    </Modal>
  );
}
