import type { Finding } from '@/api/changes';
import { FindingList } from '@/components/FindingList';
import { ButtonLink } from '@/components/links';
import { Panel } from '@/components/Panel';
import { useT } from '@/lib/i18n/context';

/**
 * Shown instead of the guided flow if the server cannot load the engine: why, and a link to near caches, which can
 * answer repeated reads without it. `finding` is the reason.
 */
export function NoEngineHere({ instanceId, finding }: { instanceId: string; finding: Finding }) {
  const t = useT();
  return (
    <Panel
      title={t('cache.title')}
      description={t('cache.noEngineHere')}
      actions={
        <ButtonLink to="/instances/$instanceId/near" params={{ instanceId }}>
          {t('cache.beside')}
        </ButtonLink>
      }
    >
      <FindingList findings={[finding]} />
    </Panel>
  );
}
