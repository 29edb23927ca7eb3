import { useQuery } from '@tanstack/react-query';
import { TextLink } from '@/components/links';
import { StatTile } from '@/components/StatTile';
import { useT } from '@/lib/i18n/context';
import { ABSENT } from '@/lib/number';
import { openIncidentsQuery } from './api';

/** A tile with the number of open incidents of the fleet. Only one page is requested, so more are shown as "200+". */
export function IncidentTile() {
  const t = useT();
  const open = useQuery(openIncidentsQuery);
  const { data } = open;
  const count = data && (data.next ? `${data.items.length}+` : data.items.length);
  return (
    <StatTile
      label={t('fleet.incidents')}
      query={open}
      tone={data && (data.items.length ? 'danger' : 'ok')}
      value={count ? <TextLink to="/alerts">{count}</TextLink> : (count ?? ABSENT)}
    />
  );
}
