import { Alert, Button } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { useChangeCreate } from '@/api/changes';
import { cacheAdviceQuery, cacheStatusQuery } from '@/api/instances';
import { useCan } from '@/api/session';
import { ErrorPanel } from '@/components/ErrorPanel';
import { IconInfoCircle } from '@/components/icons';
import { formatBytes } from '@/lib/bytes';
import { useT } from '@/lib/i18n/context';
import { chosenSize, type Sizing } from './sizing';
import classes from './enable.module.css';

/** Without memory nothing can be kept, not even for one session: the size may be set first, with the cache still off. */
export function TrialMemory({ instanceId, sizing }: { instanceId: string; sizing: Sizing }) {
  const t = useT();
  const navigate = useNavigate({ from: '/instances/$instanceId/cache' });
  const canChange = useCan('operator');
  const { data: status } = useQuery(cacheStatusQuery(instanceId));
  const { data: advice } = useQuery(cacheAdviceQuery(instanceId));
  const create = useChangeCreate(({ id }) => void navigate({ search: { step: 2, change: id } }));
  const size = advice && chosenSize(sizing, advice.sizes);
  if (!canChange || !status || status.size_bytes || !size) return null;
  const reserve = () =>
    create.mutate({
      instanceId,
      parameters: { query_cache_size: String(size) },
      allowRestart: false,
      timing: { when: 'now', at: null },
      note: t('enable.reserveNote'),
    });
  return (
    <Alert variant="light" icon={<IconInfoCircle size={18} />} c="inherit">
      <p className={classes.lead}>{t('enable.reserveHint')}</p>
      {create.isError && <ErrorPanel error={create.error} />}
      <Button variant="default" mt="xs" loading={create.isPending} onClick={reserve}>
        {t('enable.reserve', { size: formatBytes(size) })}
      </Button>
    </Alert>
  );
}
