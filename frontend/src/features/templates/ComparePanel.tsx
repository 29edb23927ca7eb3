import { Select } from '@mantine/core';
import { useInfiniteQuery, useQuery } from '@tanstack/react-query';
import { useNavigate, useSearch } from '@tanstack/react-router';
import { DataTable, type Column } from '@/components/DataTable';
import { EmptyState } from '@/components/EmptyState';
import { Panel } from '@/components/Panel';
import { Identifier } from '@/components/Identifier';
import { QueryView } from '@/components/QueryView';
import { StatusBadge } from '@/components/StatusBadge';
import { useT, type Translate } from '@/lib/i18n/context';
import { diffQuery, templatesQuery, type Template, type TemplateDifference } from './api';
import classes from './templates.module.css';

export function ComparePanel({ template }: { template: Template }) {
  const t = useT();
  const search = useSearch({ from: '/console/templates/$templateId' });
  const navigate = useNavigate({ from: '/templates/$templateId' });
  const { data: templates = [] } = useInfiniteQuery(templatesQuery);
  const isOn = search.with !== undefined || search.withVersion !== undefined;
  const diff = useQuery({
    ...diffQuery(template.id, {
      version: search.version,
      other: search.with,
      other_version: search.withVersion,
    }),
    enabled: isOn,
  });
  const others = templates.filter(({ id }) => id !== template.id);
  return (
    <Panel
      title={t('templates.compare')}
      description={
        search.withVersion ? t('templates.compareVersion', { number: search.withVersion }) : undefined
      }
      flush
      actions={
        <Select
          aria-label={t('templates.compareWith')}
          placeholder={t('templates.compareWith')}
          searchable
          clearable
          w={210}
          data={others.map(({ id, name }) => ({ value: id, label: name }))}
          value={search.with ?? null}
          onChange={(next) =>
            void navigate({
              search: (old) => ({ ...old, with: next ?? undefined, withVersion: undefined }),
              replace: true,
            })
          }
        />
      }
    >
      {isOn ? (
        <QueryView query={diff}>
          {(rows) => (
            <DataTable
              label={t('templates.compare')}
              rows={rows}
              rowKey={(row) => row.name}
              columns={columnsOf(t)}
              empty={<EmptyState title={t('templates.same')} />}
            />
          )}
        </QueryView>
      ) : (
        <p className={classes.hint}>{t('templates.compareHint')}</p>
      )}
    </Panel>
  );
}

/** The two values of a parameter one below the other, for a phone, which has no room for them side by side. */
function StackedValues({ row, t }: { row: TemplateDifference; t: Translate }) {
  return (
    <dl className={classes.stacked}>
      <dt>{t('templates.this')}</dt>
      <dd>
        <code>{row.before ?? '–'}</code>
      </dd>
      <dt>{t('templates.other')}</dt>
      <dd>
        <code>{row.after ?? '–'}</code>
      </dd>
    </dl>
  );
}

const TONES = { added: 'info', removed: 'info', changed: 'warn', respelled: 'neutral' } as const;

function columnsOf(t: Translate): Column<TemplateDifference>[] {
  return [
    {
      key: 'name',
      header: t('parameters.name'),
      render: (row) => (
        <>
          <Identifier name={row.name} />
          <StackedValues row={row} t={t} />
        </>
      ),
    },
    {
      key: 'kind',
      header: '',
      render: (row) => <StatusBadge tone={TONES[row.kind]}>{t(`templates.diff.${row.kind}`)}</StatusBadge>,
      isSecondary: true,
    },
    {
      key: 'before',
      header: t('templates.this'),
      render: (row) => <code>{row.before ?? '–'}</code>,
      isSecondary: true,
    },
    {
      key: 'after',
      header: t('templates.other'),
      render: (row) => <code>{row.after ?? '–'}</code>,
      isSecondary: true,
    },
  ];
}
