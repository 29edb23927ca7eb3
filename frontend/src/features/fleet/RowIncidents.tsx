import { useQuery } from '@tanstack/react-query';
import { TextLink } from '@/components/links';
import { StatusBadge } from '@/components/StatusBadge';
import { useT } from '@/lib/i18n/context';
import { openIncidentsQuery } from './api';

/** The open incidents of one instance, of as many as are asked for the fleet. */
export function RowIncidents({ id }: { id: string }) {
  const t = useT();
  const { data } = useQuery(openIncidentsQuery);
  const count = data?.items.filter(({ instance_id }) => instance_id === id).length ?? 0;
  if (count === 0) return null;
  return (
    <TextLink to="/instances/$instanceId/alerts" params={{ instanceId: id }} search={{ show: 'open' }}>
      <StatusBadge tone="danger">{t('fleet.attention.incidents', { count })}</StatusBadge>
    </TextLink>
  );
}
