import { Radio, SimpleGrid, Stack, Switch, TextInput } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { cacheAdviceQuery, type CacheAdvice } from '@/api/instances';
import { QueryView } from '@/components/QueryView';
import { formatBytes } from '@/lib/bytes';
import { useT } from '@/lib/i18n/context';
import { isTooLarge, isUnreadable, typedSize, type Rule, type Sizing } from './sizing';
import classes from './cache.module.css';

type Proposal = CacheAdvice['sizes'][number];

interface SizeStepProps {
  instanceId: string;
  sizing: Sizing;
  /** The largest size that can be applied, in bytes. Undefined if unknown. */
  largest: number | undefined;
  onChange: (sizing: Sizing) => void;
}

/** The step that chooses the cache's size: the rules for it side by side, each with the size that it yields here. */
export function SizeStep({ instanceId, sizing, largest, onChange }: SizeStepProps) {
  const t = useT();
  const advice = useQuery(cacheAdviceQuery(instanceId));
  const set = (next: Partial<Sizing>) => onChange({ ...sizing, ...next });
  return (
    <QueryView query={advice}>
      {(data) => (
        <Stack gap="md">
          <Radio.Group
            value={sizing.rule}
            onChange={(rule) => set({ rule: rule as Rule })}
            label="query_cache_size"
            size="xs"
          >
            <SimpleGrid cols={{ base: 1, sm: 2, lg: 4 }} spacing="sm" mt={6}>
              {withOwnSize(data.sizes).map((proposal) => (
                <RuleCard
                  key={proposal.rule}
                  proposal={proposal}
                  sizing={sizing}
                  largest={largest}
                  onChange={set}
                />
              ))}
            </SimpleGrid>
          </Radio.Group>
          <Radio.Group
            label={t('enable.type')}
            size="xs"
            value={sizing.type}
            onChange={(type) => set({ type: type === '2' ? '2' : '1' })}
          >
            <Stack gap={6} mt={6}>
              <Radio value="1" label={t('enable.type.1')} size="xs" />
              <Radio value="2" label={t('enable.type.2')} size="xs" />
            </Stack>
          </Radio.Group>
          <Switch
            label={t('enable.shrink')}
            description={t('enable.shrinkHint')}
            checked={sizing.isPoolShrunk}
            onChange={(event) => set({ isPoolShrunk: event.currentTarget.checked })}
          />
        </Stack>
      )}
    </QueryView>
  );
}

/**
 * The proposals of the advice, with the rule "a size of your own" added if it is missing, since it is always possible.
 */
function withOwnSize(sizes: Proposal[]): Proposal[] {
  if (sizes.some(({ rule }) => rule === 'explicit')) return sizes;
  return [...sizes, { rule: 'explicit', size_bytes: null, explanation: '', is_suggested: false }];
}

interface RuleCardProps {
  proposal: Proposal;
  sizing: Sizing;
  largest: number | undefined;
  onChange: (next: Partial<Sizing>) => void;
}

function RuleCard({ proposal, sizing, largest, onChange }: RuleCardProps) {
  const t = useT();
  const { rule } = proposal;
  const typed = typedSize(rule, sizing);
  const size = typed ?? proposal.size_bytes;
  const tooLarge =
    isTooLarge({ ...sizing, rule }, largest) && t('enable.tooLarge', { size: formatBytes(largest ?? 0) });
  const isOffered = size !== null || rule === 'result_set' || rule === 'explicit';
  return (
    <div className={classes.card} data-chosen={sizing.rule === rule || undefined}>
      <Radio value={rule} label={t(`enable.rule.${rule}`)} size="xs" disabled={!isOffered} />
      {proposal.is_suggested && <div className={classes.suggested}>{t('enable.suggested')}</div>}
      <div className={classes.size}>{size === null ? '–' : formatBytes(size)}</div>
      <div className={classes.hint}>
        {t(rule === 'curve' && size === null ? 'enable.ruleHint.noCurve' : `enable.ruleHint.${rule}`)}
      </div>
      {rule === 'result_set' && (
        <TextInput
          aria-label={t('enable.resultSet')}
          placeholder={t('enable.resultSet')}
          value={sizing.resultSet}
          error={isUnreadable(sizing.resultSet) ? t('enable.wrongSize') : tooLarge}
          onChange={(event) => onChange({ rule, resultSet: event.currentTarget.value })}
        />
      )}
      {rule === 'explicit' && (
        <TextInput
          aria-label={t('enable.explicit')}
          placeholder="480 MiB"
          value={sizing.explicit}
          error={isUnreadable(sizing.explicit) ? t('enable.wrongSize') : tooLarge}
          onChange={(event) => onChange({ rule, explicit: event.currentTarget.value })}
        />
      )}
    </div>
  );
}
