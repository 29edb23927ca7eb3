import { TextLink } from '@/components/links';
import { StatusBadge } from '@/components/StatusBadge';
import { useT } from '@/lib/i18n/context';

/** The number of open incidents of one instance, linked to them. Nothing for 0. */
export function RowIncidents({ id, count }: { id: string; count: number }) {
  const t = useT();
  if (count === 0) return null;
  return (
    <TextLink to="/instances/$instanceId/alerts" params={{ instanceId: id }} search={{ show: 'open' }}>
      <StatusBadge tone="danger">{t('fleet.attention.incidents', { count })}</StatusBadge>
    </TextLink>
  );
}
