// The rules that watch one instance, with the effective threshold of each, and the button that overrides it.
import { Button } from '@mantine/core';
import { useInfiniteQuery } from '@tanstack/react-query';
import { useState } from 'react';
import type { Instance } from '@/api/instances';
import { useCan } from '@/api/session';
import type { Column } from '@/components/column';
import { EmptyState } from '@/components/EmptyState';
import { IconBell } from '@/components/icons';
import { StatusBadge } from '@/components/StatusBadge';
import { ListPanel } from '@/components/ListPanel';
import { useT, useApiText, type TranslateApiText, type Translate } from '@/lib/i18n/context';
import { useMetrics, rulesQuery, type AlertRule, type Metric } from './api';
import { OverrideForm } from './OverrideForm';
import { conditionText, formulaText, isAbout, overrideFor, ruleName } from './ruleText';

export function InstanceRules({ instance }: { instance: Instance }) {
  const t = useT();
  const apiText = useApiText();
  const canChange = useCan('operator');
  const rules = useInfiniteQuery(rulesQuery);
  const metrics = useMetrics();
  const [edited, setEdited] = useState<AlertRule>();
  return (
    <>
      <ListPanel
        query={rules}
        description={t('rules.ofInstanceHint')}
        keep={(rule) => isAbout(rule, instance)}
        label={t('rules.ofInstance')}
        rowKey={(row) => row.id}
        columns={columnsOf(t, apiText, metrics, instance.id, canChange ? setEdited : undefined)}
        empty={<EmptyState icon={<IconBell size={20} />} title={t('rules.noneOfInstance')} />}
      />
      {edited && <OverrideForm rule={edited} instance={instance} onClose={() => setEdited(undefined)} />}
    </>
  );
}

function RuleStanding({ rule, instanceId, t }: { rule: AlertRule; instanceId: string; t: Translate }) {
  if (!rule.is_enabled) return <StatusBadge tone="neutral">{t('state.off')}</StatusBadge>;
  const override = overrideFor(rule, instanceId);
  if (override?.is_exempt) return <StatusBadge tone="neutral">{t('rules.exempt')}</StatusBadge>;
  if (override) return <StatusBadge tone="info">{t('rules.overridden')}</StatusBadge>;
  return <StatusBadge tone="ok">{t('state.on')}</StatusBadge>;
}

function columnsOf(
  t: Translate,
  apiText: TranslateApiText,
  metrics: Metric[],
  instanceId: string,
  edit?: (rule: AlertRule) => void,
): Column<AlertRule>[] {
  return [
    { key: 'name', header: t('rules.name'), render: (row) => <strong>{ruleName(row.name, apiText)}</strong> },
    {
      key: 'condition',
      header: t('incidents.condition'),
      render: (row) => (
        <span title={formulaText(row, metrics)}>
          {conditionText(row, metrics, t, overrideFor(row, instanceId)?.threshold ?? undefined)}
        </span>
      ),
    },
    {
      key: 'state',
      header: t('fleet.state'),
      render: (row) => <RuleStanding rule={row} instanceId={instanceId} t={t} />,
    },
    {
      key: 'actions',
      header: '',
      align: 'right',
      render: (row) =>
        edit &&
        row.scope !== 'instance' && (
          <Button
            variant="subtle"
            size="compact-xs"
            onClick={() => edit(row)}
            aria-label={t('rules.overrideOf', { name: ruleName(row.name, apiText) })}
          >
            {t('rules.override')}
          </Button>
        ),
    },
  ];
}
