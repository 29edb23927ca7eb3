import { Button, Group, Modal, Stack, Switch, TextInput } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { useState, type FormEvent } from 'react';
import { classesQuery } from '@/api/classes';
import type { Timing } from '@/api/changes';
import { useInstanceAction, type Instance } from '@/api/instances';
import { ClassField, type ClassChoice } from '@/components/ClassField';
import { ErrorPanel } from '@/components/ErrorPanel';
import { TimingPicker } from '@/components/TimingPicker';
import { useFocusBack } from '@/components/useFocusBack';
import { parseBytes } from '@/lib/bytes';
import { CUSTOM, customSize } from '@/lib/customSize';
import { useT } from '@/lib/i18n/context';
import { useClassOfSize } from './api';

/**
 * The dialog that changes the class of an instance. It also asks for the new size of the cache, if that is set to a
 * number and would not adapt by itself.
 */
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
  const make = useClassOfSize();
  const [choice, setChoice] = useState<ClassChoice>({
    instanceClass: instance.instance_class,
    memory: '',
    cpus: '',
    storage: '',
  });
  const [cacheSize, setCacheSize] = useState('');
  const [allowRestart, setAllowRestart] = useState(false);
  const [timing, setTiming] = useState<Timing>({ when: 'now', at: null });
  // The class that the instance has. A custom size takes its number of connections, and its storage unless another is
  // given.
  const present = classList.find(({ name }) => name === instance.instance_class);
  const isCustom = choice.instanceClass === CUSTOM;
  const size = isCustom
    ? customSize(choice.memory, choice.cpus, present?.max_connections, choice.storage)
    : undefined;
  const custom = size && { ...size, storage_bytes: size.storage_bytes ?? present?.storage_bytes ?? null };
  const isChosen = isCustom ? custom !== undefined : choice.instanceClass !== instance.instance_class;
  const error = make.error ?? act.error;
  const submit = (event: FormEvent) => {
    event.preventDefault();
    const cacheBytes = parseBytes(cacheSize)?.toString() ?? cacheSize.trim();
    const parameters = cacheBytes ? { query_cache_size: cacheBytes } : {};
    const resize = (instance_class: string) => {
      const body = { instance_class, parameters, allow_restart: allowRestart, ...timing };
      act.mutate({ route: 'resize', body });
    };
    if (custom) make.mutate(custom, { onSuccess: ({ name }) => resize(name) });
    else resize(choice.instanceClass ?? instance.instance_class);
  };
  return (
    <Modal opened onClose={onClose} title={t('instance.resizeTitle', { name: instance.name })}>
      <form onSubmit={submit}>
        <Stack gap="sm">
          {error && <ErrorPanel error={error} />}
          <ClassField
            label={t('instance.newClass')}
            choice={choice}
            classes={classList}
            isCpuTold={false}
            error={hasNoChoices && t('error.choices')}
            onChange={(next) => setChoice((old) => ({ ...old, ...next }))}
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
            <Button type="submit" loading={make.isPending || act.isPending} disabled={!isChosen}>
              {t('instance.resize')}
            </Button>
          </Group>
        </Stack>
      </form>
    </Modal>
  );
}
