import { useInfiniteQuery } from '@tanstack/react-query';
import type { Column } from '@/components/column';
import { TextLink } from '@/components/links';
import { ListPanel } from '@/components/ListPanel';
import { Moment } from '@/components/Moment';
import { useT, type Translate } from '@/lib/i18n/context';
import { versionsQuery, type Template, type TemplateVersion } from './api';

export function VersionList({ template }: { template: Template }) {
  const t = useT();
  const versions = useInfiniteQuery(versionsQuery(template.id));
  return (
    <ListPanel
      query={versions}
      label={t('templates.versions')}
      rowKey={(row) => String(row.number)}
      columns={columnsOf(t, template)}
    />
  );
}

function columnsOf(t: Translate, template: Template): Column<TemplateVersion>[] {
  const params = { templateId: template.id };
  return [
    {
      key: 'number',
      header: t('templates.version'),
      render: (row) => (
        <TextLink to="/templates/$templateId" params={params} search={{ version: row.number }}>
          {row.number}
        </TextLink>
      ),
    },
    { key: 'at', header: t('change.created'), render: (row) => <Moment at={row.created_at} /> },
    { key: 'by', header: t('change.by'), render: (row) => row.actor || '–' },
    { key: 'note', header: t('change.note'), render: (row) => row.note || '–', isSecondary: true },
    {
      key: 'compare',
      header: '',
      align: 'right',
      render: (row) =>
        row.number !== template.version && (
          <TextLink to="/templates/$templateId" params={params} search={{ withVersion: row.number }}>
            {t('templates.compareThis')}
          </TextLink>
        ),
    },
  ];
}
