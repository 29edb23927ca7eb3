import { SimpleGrid, Stack } from '@mantine/core';
import { useInfiniteQuery, useQuery } from '@tanstack/react-query';
import { useParams, useSearch } from '@tanstack/react-router';
import { useState } from 'react';
import { TextLink } from '@/components/links';
import { PageHeader } from '@/components/PageHeader';
import { QueryPage } from '@/components/QueryPage';
import { StatusBadge } from '@/components/StatusBadge';
import { useT, useApiText } from '@/lib/i18n/context';
import { templateQuery, versionsQuery, type TemplateDetail } from './api';
import { ComparePanel } from './ComparePanel';
import { TemplateActions } from './TemplateActions';
import { TemplateEditor } from './TemplateEditor';
import { UsesPanel } from './UsesPanel';
import { ValuesPanel } from './ValuesPanel';
import { VersionList } from './VersionList';

export function TemplatePage() {
  const t = useT();
  const { templateId } = useParams({ from: '/console/templates/$templateId' });
  const template = useQuery(templateQuery(templateId));
  const back = <TextLink to="/templates">{t('templates.title')}</TextLink>;
  return (
    <QueryPage query={template} eyebrow={back} title={templateId}>
      {(data) => <TemplateView key={data.id} template={data} />}
    </QueryPage>
  );
}

function TemplateView({ template }: { template: TemplateDetail }) {
  const t = useT();
  const apiText = useApiText();
  const { version } = useSearch({ from: '/console/templates/$templateId' });
  const { data: versions } = useInfiniteQuery(versionsQuery(template.id));
  const [isEditing, setIsEditing] = useState(false);
  const older = versions?.find(({ number }) => number === version);
  return (
    <>
      <PageHeader
        eyebrow={<TextLink to="/templates">{t('templates.title')}</TextLink>}
        title={template.name}
        description={apiText(`template.${template.id}`, template.description)}
        status={
          <>
            {template.is_system && <StatusBadge tone="info">{t('templates.system')}</StatusBadge>}
            <StatusBadge tone="neutral">
              {t('templates.versionNumber', { number: version ?? template.version })}
            </StatusBadge>
          </>
        }
        actions={!isEditing && <TemplateActions template={template} onEdit={() => setIsEditing(true)} />}
      />
      <Stack gap="md">
        <SimpleGrid cols={{ base: 1, lg: 2 }} spacing="md">
          {isEditing ? (
            <TemplateEditor template={template} onClose={() => setIsEditing(false)} />
          ) : (
            <ValuesPanel template={template} values={older?.values ?? template.values} version={version} />
          )}
          <VersionList template={template} />
        </SimpleGrid>
        <ComparePanel template={template} />
        <UsesPanel template={template} />
      </Stack>
    </>
  );
}
