import type { CacheStatus } from '@/api/instances';
import { TextLink } from '@/components/links';
import { useT, type Translate } from '@/lib/i18n/context';
import { formatDuration } from '@/lib/number';
import { readRules, type CacheRule } from './cacheRules';
import classes from './cache.module.css';

interface CacheRulesProps {
  instanceId: string;
  status: CacheStatus;
}

/**
 * The cache's rules, which keep statements out of it or allow stale hits, and the number of stale hits. Nothing if the
 * engine has no rules.
 */
export function CacheRules({ instanceId, status }: CacheRulesProps) {
  const t = useT();
  if (status.rules === null) return null;
  const rules = readRules(status.rules);
  const staleHits = Number(status.counters.Fqc_stale_hits ?? 0);
  return (
    <section className={classes.rules} aria-label={t('rulesOf.title')}>
      <div className={classes.rulesHead}>
        <h3>{t('rulesOf.title')}</h3>
        <TextLink to="/instances/$instanceId/rules" params={{ instanceId }}>
          {t('rulesOf.edit')}
        </TextLink>
      </div>
      {rules === undefined && <code>{status.rules}</code>}
      {rules?.length === 0 && <p className={classes.hint}>{t('rulesOf.none')}</p>}
      {rules && rules.length > 0 && (
        <ol>
          {rules.map((rule, index) => (
            <RuleItem key={index} rule={rule} />
          ))}
        </ol>
      )}
      {(staleHits > 0 || rules?.some(({ ttlSeconds }) => ttlSeconds)) && (
        <p className={classes.hint} title="Fqc_stale_hits">
          {t('rulesOf.staleHits', { count: staleHits })}
        </p>
      )}
    </section>
  );
}

function RuleItem({ rule }: { rule: CacheRule }) {
  const t = useT();
  return (
    <li>
      {rule.matches.map(({ name, value }) => (
        <span key={name} className={classes.match}>
          {name} <code>{value}</code>
        </span>
      ))}
      <span>{effectOf(t, rule)}</span>
    </li>
  );
}

function effectOf(t: Translate, { cache, ttlSeconds }: CacheRule): string {
  if (cache === 'never') return t('rulesOf.never');
  if (cache === 'always' && ttlSeconds !== undefined)
    return t('rulesOf.always', { ttl: formatDuration(ttlSeconds, t) });
  return cache === 'normal' ? t('rulesOf.normal') : cache;
}
