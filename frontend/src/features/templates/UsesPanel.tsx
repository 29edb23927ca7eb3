// The instances that the template was applied to, and which of them differ from its newest version.
import { useInfiniteQuery } from '@tanstack/react-query';
import { useCan } from '@/api/session';
import type { Column } from '@/components/column';
import { EmptyState } from '@/components/EmptyState';
import { IconArrowRight, IconTemplate } from '@/components/icons';
import { InstanceLink } from '@/components/InstanceLink';
import { ButtonLink, TextLink } from '@/components/links';
import { ListPanel } from '@/components/ListPanel';
import { Moment } from '@/components/Moment';
import { Identifier } from '@/components/Identifier';
import { StatusBadge } from '@/components/StatusBadge';
import { useT, type Translate } from '@/lib/i18n/context';
import { usesQuery, type Template, type TemplateUse } from './api';
import classes from './templates.module.css';

export function UsesPanel({ template }: { template: Template }) {
  const t = useT();
  const uses = useInfiniteQuery(usesQuery(template.id));
  const differing = uses.data?.filter((use) => !use.is_in_step) ?? [];
  return (
    <ListPanel
      query={uses}

      description={
        uses.data?.length
          ? t('templates.usesTally', { count: uses.data.length, differing: differing.length })
          : undefined
      }
      actions={differing.length > 0 && <ApplyAgain template={template} uses={differing} />}
      label={t('templates.uses')}
      rowKey={(row) => row.instance}
      columns={columnsOf(t, template)}
      empty={
        <EmptyState
          icon={<IconTemplate size={20} />}
          title={t('templates.unused')}
          hint={t('templates.unusedHint')}
        />
      }
    />
  );
}

/**
 * A link to the preview of applying the template again to the instances that differ from it. The link itself applies
 * nothing.
 */
function ApplyAgain({ template, uses }: { template: Template; uses: TemplateUse[] }) {
  const t = useT();
  if (!useCan('operator')) return null;
  return (
    <ButtonLink
      variant="default"
      to="/templates/apply"
      search={{ template: template.id, instances: uses.map((use) => use.instance_name).join(',') }}
    >
      {t('templates.applyAgain', { count: uses.length })}
    </ButtonLink>
  );
}

function columnsOf(t: Translate, template: Template): Column<TemplateUse>[] {
  return [
    {
      key: 'name',
      header: t('fleet.name'),
      sortValue: (row) => row.instance_name,
      render: (row) => <InstanceLink id={row.instance} name={row.instance_name} />,
    },
    {
      key: 'state',
      header: t('fleet.state'),
      sortValue: (row) => row.differing_count,
      render: (row) =>
        row.is_in_step ? (
          <StatusBadge tone="ok">{t('templates.inStep')}</StatusBadge>
        ) : (
          <StatusBadge tone="warn">{t('rollout.differs', { count: row.differing_count })}</StatusBadge>
        ),
    },
    { key: 'what', header: t('templates.differences'), render: (row) => <Differences use={row} /> },
    {
      key: 'version',
      header: t('templates.version'),
      align: 'right',
      sortValue: (row) => row.version,
      render: (row) => (
        <TextLink
          to="/templates/$templateId"
          params={{ templateId: template.id }}
          search={{ version: row.version }}
        >
          {row.version}
        </TextLink>
      ),
      isSecondary: true,
    },
    {
      key: 'at',
      header: t('templates.appliedAt'),
      render: (row) => <Moment at={row.applied_at} relative />,
      isSecondary: true,
    },
    { key: 'by', header: t('change.by'), render: (row) => row.applied_by || '–', isSecondary: true },
  ];
}

/**
 * The parameters that an instance has differently from the template's newest version, each with both values. A dash if
 * none differ.
 */
function Differences({ use }: { use: TemplateUse }) {
  const t = useT();
  if (use.differences.length === 0) return '–';
  return (
    <ul className={classes.differences}>
      {use.differences.map(({ name, configured, wanted }) => (
        <li key={name}>
          <Identifier name={name} /> <span>{configured ?? t('templates.notSet')}</span>
          <IconArrowRight size={12} aria-label={t('templates.wants')} />
          <span>{wanted}</span>
        </li>
      ))}
    </ul>
  );
}
