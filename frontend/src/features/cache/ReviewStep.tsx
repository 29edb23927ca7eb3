import { Button, Stack } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { useState } from 'react';
import type { Timing } from '@/api/changes';
import { instanceQuery } from '@/api/instances';
import { AllowRestart } from '@/components/AllowRestart';
import { ChangeLines } from '@/components/ChangeLines';
import { ErrorPanel } from '@/components/ErrorPanel';
import { FindingList } from '@/components/FindingList';
import { IconBolt } from '@/components/icons';
import { QueryView } from '@/components/QueryView';
import { TimingPicker } from '@/components/TimingPicker';
import { useT } from '@/lib/i18n/context';
import { enablePreviewQuery, useCacheEnable } from './api';
import type { Sizing } from './sizing';

interface ReviewStepProps {
  instanceId: string;
  sizing: Sizing;
  canApply: boolean;
}

export function ReviewStep({ instanceId, sizing, canApply }: ReviewStepProps) {
  const t = useT();
  const navigate = useNavigate({ from: '/instances/$instanceId/cache' });
  const [allowRestart, setAllowRestart] = useState(sizing.isRestartAllowed);
  const [timing, setTiming] = useState<Timing>({ when: 'now', at: null });
  const wanted = { ...sizing, isRestartAllowed: allowRestart };
  const { data: instance } = useQuery(instanceQuery(instanceId));
  const preview = useQuery(enablePreviewQuery(instanceId, wanted));
  const enable = useCacheEnable(instanceId, (change) => void navigate({ search: { change: change.id } }));
  return (
    <QueryView query={preview}>
      {(data) => (
        <Stack gap="md">
          <ChangeLines lines={data.lines} />
          <FindingList findings={data.findings} />
          {instance?.provider === 'local' && (
            <AllowRestart lines={data.lines} isAllowed={allowRestart} onChange={setAllowRestart} />
          )}
          {instance && (
            <TimingPicker window={instance.maintenance_window} timing={timing} onChange={setTiming} />
          )}
          {enable.isError && <ErrorPanel error={enable.error} />}
          <Button
            size="sm"
            style={{ alignSelf: 'flex-end' }}
            leftSection={<IconBolt size={16} />}
            disabled={!canApply || data.is_blocked}
            loading={enable.isPending}
            onClick={() => enable.mutate({ sizing: wanted, timing })}
          >
            {t(timing.when === 'now' ? 'enable.submit' : 'review.schedule')}
          </Button>
        </Stack>
      )}
    </QueryView>
  );
}
