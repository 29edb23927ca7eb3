import { Button, Group, Modal, Select, Stack, Switch, TextInput } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { useState, type FormEvent } from 'react';
import type { Timing } from '@/api/changes';
import { useInstanceAction, type Instance } from '@/api/instances';
import { ErrorPanel } from '@/components/ErrorPanel';
import { TimingPicker } from '@/components/TimingPicker';
import { useFocusBack } from '@/components/useFocusBack';
import { formatBytes, parseBytes } from '@/lib/bytes';
import { useT } from '@/lib/i18n/context';
import { classesQuery } from './api';

/** Moves to another class. A literal cache size does not follow by itself, so it is asked for here. */
export function ResizeInstance({ instance, onClose }: { instance: Instance; onClose: () => void }) {
  const t = useT();
  useFocusBack();
  const navigate = useNavigate();
  const { data: classList = [], isError: hasNoChoices } = useQuery(classesQuery);
  const act = useInstanceAction(
    instance.id,
    (change) =>
      void navigate({
        to: '/instances/$instanceId/changes/$changeId',
        params: { instanceId: instance.id, changeId: change.id },
      }).then(onClose),
  );
  const [className, setClassName] = useState(instance.instance_class);
  const [cacheSize, setCacheSize] = useState('');
  const [allowRestart, setAllowRestart] = useState(false);
  const [timing, setTiming] = useState<Timing>({ when: 'now', at: null });
  const submit = (event: FormEvent) => {
    event.preventDefault();
    const size = parseBytes(cacheSize)?.toString() ?? cacheSize.trim();
    const parameters = size ? { query_cache_size: size } : {};
    const body = { instance_class: className, parameters, allow_restart: allowRestart, ...timing };
    act.mutate({ route: 'resize', body });
  };
  return (
    <Modal opened onClose={onClose} title={t('instance.resizeTitle', { name: instance.name })}>
      <form onSubmit={submit}>
        <Stack gap="sm">
          {act.isError && <ErrorPanel error={act.error} />}
          <Select
            label={t('instance.newClass')}
            value={className}
            error={hasNoChoices && t('error.choices')}
            onChange={(next) => setClassName(next ?? className)}
            data={classList.map((item) => ({
              value: item.name,
              label: `${item.name} · ${item.cpu_count} CPU · ${formatBytes(item.memory_bytes)}`,
            }))}
          />
          <TextInput
            label={t('instance.newCacheSize')}
            description={t('instance.newCacheSizeHint')}
            placeholder="480 MiB"
            value={cacheSize}
            onChange={(event) => setCacheSize(event.currentTarget.value)}
          />
          <Switch
            label={t('review.allowRestart')}
            checked={allowRestart}
            onChange={(event) => setAllowRestart(event.currentTarget.checked)}
          />
          <TimingPicker window={instance.maintenance_window} timing={timing} onChange={setTiming} />
          <Group justify="flex-end" gap="xs">
            <Button variant="default" onClick={onClose}>
              {t('action.cancel')}
            </Button>
            <Button type="submit" loading={act.isPending} disabled={className === instance.instance_class}>
              {t('instance.resize')}
            </Button>
          </Group>
        </Stack>
      </form>
    </Modal>
  );
}
