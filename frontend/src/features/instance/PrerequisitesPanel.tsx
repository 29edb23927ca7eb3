import { useQuery } from '@tanstack/react-query';
import { prerequisitesQuery } from '@/api/instances';
import { CheckPanel } from '@/components/CheckPanel';
import { useT } from '@/lib/i18n/context';

/**
 * The check of what a server needs before its cache may be enabled, with the fix for each condition that is not met.
 */
export function PrerequisitesPanel({ instanceId }: { instanceId: string }) {
  const t = useT();
  const check = useQuery(prerequisitesQuery(instanceId));
  const verdict = check.data && t(check.data.is_ready ? 'prerequisites.ready' : 'prerequisites.notReady');
  return <CheckPanel instanceId={instanceId} check={check} verdict={verdict} />;
}
