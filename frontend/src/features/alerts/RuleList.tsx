import { Button, Group } from '@mantine/core';
import { useInfiniteQuery, useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { instanceNameQuery } from '@/api/instances';
import { useCan } from '@/api/session';
import { ConfirmModal } from '@/components/ConfirmModal';
import type { Column } from '@/components/column';
import { EmptyState } from '@/components/EmptyState';
import { IconBell, IconPlus } from '@/components/icons';
import { RowActions } from '@/components/RowActions';
import { StatusBadge } from '@/components/StatusBadge';
import { ListPanel } from '@/components/ListPanel';
import { useT, useApiText, type TranslateApiText, type Translate } from '@/lib/i18n/context';
import { formatDuration } from '@/lib/number';
import { writeTags } from '@/lib/tags';
import { useMetrics, rulesQuery, useRuleDelete, type AlertRule, type Metric } from './api';
import { RuleForm } from './RuleForm';
import { conditionText, formulaText, ruleName } from './ruleText';

type Dialog = { kind: 'form'; rule?: AlertRule } | { kind: 'delete'; rule: AlertRule };

export function RuleList() {
  const t = useT();
  const apiText = useApiText();
  const canChange = useCan('operator');
  const rules = useInfiniteQuery(rulesQuery);
  const metrics = useMetrics();
  const remove = useRuleDelete();
  const [dialog, setDialog] = useState<Dialog>();
  const close = () => {
    remove.reset();
    setDialog(undefined);
  };
  return (
    <>
      <ListPanel
        query={rules}

        actions={
          canChange && (
            <Button leftSection={<IconPlus size={14} />} onClick={() => setDialog({ kind: 'form' })}>
              {t('rules.new')}
            </Button>
          )
        }
        label={t('alerts.tab.rules')}
        rowKey={(row) => row.id}
        columns={columnsOf(t, apiText, metrics, canChange ? setDialog : undefined)}
        empty={
          <EmptyState icon={<IconBell size={20} />} title={t('rules.empty')} hint={t('rules.emptyHint')} />
        }
      />
      {dialog?.kind === 'form' && <RuleForm rule={dialog.rule} metrics={metrics} onClose={close} />}
      {dialog?.kind === 'delete' && (
        <ConfirmModal
          title={t('rules.deleteAsk', { name: ruleName(dialog.rule.name, apiText) })}
          confirm={t('action.delete')}
          error={remove.error}
          isBusy={remove.isPending}
          onConfirm={() => remove.mutate(dialog.rule, { onSuccess: close })}
          onClose={close}
        >
          {t('rules.deleteHint')}
        </ConfirmModal>
      )}
    </>
  );
}

function RuleScope({ rule, t }: { rule: AlertRule; t: Translate }) {
  const { data: instance } = useQuery({
    ...instanceNameQuery(rule.instance_id ?? ''),
    enabled: rule.scope === 'instance' && rule.instance_id !== null,
  });
  const scope =
    rule.scope === 'tags'
      ? writeTags(rule.tags)
      : rule.scope === 'instance'
        ? (instance?.name ?? rule.instance_id ?? '–')
        : t('rules.scope.all');
  const count = rule.overrides.length;
  return count ? `${scope}, ${t('rules.overrideCount', { count })}` : scope;
}

function columnsOf(
  t: Translate,
  apiText: TranslateApiText,
  metrics: Metric[],
  open?: (dialog: Dialog) => void,
): Column<AlertRule>[] {
  return [
    {
      key: 'name',
      header: t('rules.name'),
      render: (row) => <strong>{ruleName(row.name, apiText)}</strong>,
      sortValue: (row) => ruleName(row.name, apiText),
    },
    {
      key: 'condition',
      header: t('incidents.condition'),
      render: (row) => <span title={formulaText(row, metrics)}>{conditionText(row, metrics, t)}</span>,
    },
    {
      key: 'for',
      header: t('rules.for'),
      render: (row) => (row.for_seconds ? formatDuration(row.for_seconds, t) : t('rules.atOnce')),
      width: 84,
      isSecondary: true,
    },
    {
      key: 'scope',
      header: t('rules.scope'),
      render: (row) => <RuleScope rule={row} t={t} />,
      isSecondary: true,
    },
    {
      key: 'severity',
      header: t('rules.severity'),
      render: (row) => (
        <StatusBadge tone={row.severity === 'critical' ? 'danger' : 'warn'}>
          {t(`rules.severity.${row.severity}`)}
        </StatusBadge>
      ),
      isSecondary: true,
    },
    {
      key: 'enabled',
      header: t('fleet.state'),
      render: (row) => (
        <StatusBadge tone={row.is_enabled ? 'ok' : 'neutral'}>
          {t(row.is_enabled ? 'state.on' : 'state.off')}
        </StatusBadge>
      ),
    },
    {
      key: 'actions',
      header: '',
      align: 'right',
      render: (row) =>
        open && (
          <Group gap={4} justify="flex-end" wrap="nowrap">
            <RowActions
              editLabel={t('rules.edit', { name: ruleName(row.name, apiText) })}
              deleteLabel={t('rules.deleteAsk', { name: ruleName(row.name, apiText) })}
              onEdit={() => open({ kind: 'form', rule: row })}
              onDelete={() => open({ kind: 'delete', rule: row })}
            />
          </Group>
        ),
    },
  ];
}
