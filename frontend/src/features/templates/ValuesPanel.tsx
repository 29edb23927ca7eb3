import { Select } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { classesQuery } from '@/api/classes';
import { DataTable, type Column } from '@/components/DataTable';
import { EmptyState } from '@/components/EmptyState';
import { FindingList } from '@/components/FindingList';
import { Panel } from '@/components/Panel';
import { Identifier } from '@/components/Identifier';
import { ParameterValue } from '@/components/ParameterValue';
import { useT, type Translate } from '@/lib/i18n/context';
import { parameterNamesQuery, resolvedQuery, type TemplateDetail, type Values } from './api';
import classes from './templates.module.css';

interface ValuesPanelProps {
  template: TemplateDetail;
  values: Values;
  version: number | undefined;
}

interface Row {
  name: string;
  value: string;
  resolved: string | null | undefined;
  unit: string | undefined;
}

/** The values of a template as written, with what they yield on an instance class that the user selects. */
export function ValuesPanel({ template, values, version }: ValuesPanelProps) {
  const t = useT();
  const { data: classList = [] } = useQuery(classesQuery);
  const { data: catalogue = [] } = useQuery(parameterNamesQuery(template.engine_line));
  const [chosen, setChosen] = useState<string>();
  const instanceClass = classList.find(({ name }) => name === chosen) ?? classList[0];
  const resolved = useQuery({
    ...resolvedQuery(template.id, instanceClass?.variables ?? {}, version),
    enabled: instanceClass !== undefined,
  });
  const rows = Object.entries(values).map(([name, value]) => ({
    name,
    value,
    resolved: resolved.data?.values.find((item) => item.name === name)?.resolved,
    unit: catalogue.find((item) => item.name === name)?.unit,
  }));
  const findings = resolved.data?.findings ?? [];
  return (
    <Panel
      flush
      title={t('templates.values')}
      actions={
        <Select
          aria-label={t('templates.onClass')}
          data={classList.map(({ name }) => ({ value: name, label: t('templates.onClassName', { name }) }))}
          value={instanceClass?.name ?? null}
          onChange={(next) => setChosen(next ?? undefined)}
          w={190}
        />
      }
    >
      <DataTable
        label={t('templates.values')}
        rows={rows}
        rowKey={(row) => row.name}
        columns={columnsOf(t)}
        empty={<EmptyState title={t('templates.noValues')} />}
      />
      {findings.length > 0 && (
        <div className={classes.findings}>
          <FindingList findings={findings.map((finding) => ({ ...finding, action: null }))} />
        </div>
      )}
    </Panel>
  );
}

function columnsOf(t: Translate): Column<Row>[] {
  return [
    {
      key: 'name',
      header: t('parameters.name'),
      render: (row) => <Identifier name={row.name} />,
      sortValue: (row) => row.name,
    },
    { key: 'value', header: t('parameters.value'), render: (row) => <code>{row.value}</code> },
    {
      key: 'resolved',
      header: t('templates.resolved'),
      render: (row) => <ParameterValue value={row.resolved} unit={row.unit} />,
    },
  ];
}
