// The rules of one instance's cache: edited as rows, explained during editing, and applied as a change set.
import { Button, Stack } from '@mantine/core';
import { useDebouncedValue } from '@mantine/hooks';
import { useQuery } from '@tanstack/react-query';
import { useParams, useSearch } from '@tanstack/react-router';
import { useState } from 'react';
import { useCan } from '@/api/session';
import type { components } from '@/api/schema.gen';
import { EmptyState } from '@/components/EmptyState';
import { ErrorPanel } from '@/components/ErrorPanel';
import { IconPlus } from '@/components/icons';
import { Panel } from '@/components/Panel';
import { QueryView } from '@/components/QueryView';
import { useT } from '@/lib/i18n/context';
import { rulesPreviewQuery, rulesQuery } from './api';
import { isSame, movedUp, rowOf, rowsOf, rulesOf, type RuleRow } from './ruleDraft';
import { RuleFields } from './RuleFields';
import { RulesReview } from './RulesReview';
import classes from './rules.module.css';

type Rules = components['schemas']['Rules'];

const PAUSE_MS = 300;

export function RulesPage() {
  const { instanceId } = useParams({ from: '/console/instances/$instanceId' });
  const rules = useQuery(rulesQuery(instanceId));
  return <QueryView query={rules}>{(data) => <Editor instanceId={instanceId} rules={data} />}</QueryView>;
}

function Editor({ instanceId, rules }: { instanceId: string; rules: Rules }) {
  const t = useT();
  const canChange = useCan('operator');
  const proposed = useSearch({ from: '/console/instances/$instanceId/rules' });
  const [rows, setRows] = useState<RuleRow[]>(() => rowsOf(rules.rules, proposed));
  const [settled] = useDebouncedValue(rows, PAUSE_MS);
  const isChanged = !isSame(rows, rules.rules);
  const preview = useQuery({ ...rulesPreviewQuery(instanceId, rulesOf(settled)), enabled: isChanged });
  const explained = isChanged && preview.data ? preview.data : { ...rules, errors: [] };
  const nextKey = Math.max(-1, ...rows.map(({ key }) => key)) + 1;
  return (
    <Stack gap="md">
      <Panel title={t('rulesOf.title')} description={t('ruleEdit.lead')}>
        <Stack gap="sm">
          {rows.length === 0 && <EmptyState title={t('rulesOf.none')} />}
          <ol className={classes.rows}>
            {rows.map((row, index) => (
              <RuleFields
                key={row.key}
                row={row}
                index={index}
                explained={explained}
                isReadOnly={!canChange}
                onChange={(next) => setRows(rows.map((old) => (old.key === row.key ? next : old)))}
                onUp={index > 0 ? () => setRows(movedUp(rows, index)) : undefined}
                onRemove={() => setRows(rows.filter(({ key }) => key !== row.key))}
              />
            ))}
          </ol>
          {canChange && (
            <Button
              variant="default"
              style={{ alignSelf: 'flex-start' }}
              leftSection={<IconPlus size={14} />}
              onClick={() => setRows([...rows, rowOf({}, nextKey)])}
            >
              {t('ruleEdit.add')}
            </Button>
          )}
          <p className={classes.hint}>
            {t('ruleEdit.known', { count: explained.statements })}{' '}
            {explained.statements_without_tables > 0 &&
              t('ruleEdit.withoutTables', { count: explained.statements_without_tables })}
          </p>
        </Stack>
      </Panel>
      {isChanged && preview.isError && <ErrorPanel error={preview.error} />}
      {isChanged && preview.data && canChange && (
        <RulesReview
          instanceId={instanceId}
          preview={preview.data}
          isOutdated={settled !== rows || preview.isPlaceholderData}
          onDiscard={() => setRows(rules.rules.map(rowOf))}
        />
      )}
    </Stack>
  );
}
