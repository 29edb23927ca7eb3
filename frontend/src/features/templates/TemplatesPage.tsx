import { Button, FileButton, Group } from '@mantine/core';
import { useInfiniteQuery } from '@tanstack/react-query';
import { useNavigate, useSearch } from '@tanstack/react-router';
import { useState } from 'react';
import { useCan } from '@/api/session';
import type { Column } from '@/components/column';
import { EmptyState } from '@/components/EmptyState';
import { ErrorPanel } from '@/components/ErrorPanel';
import { IconPlus, IconTemplate, IconUpload } from '@/components/icons';
import { ButtonLink, TextLink } from '@/components/links';
import { ListPanel } from '@/components/ListPanel';
import { Moment } from '@/components/Moment';
import { PageHeader } from '@/components/PageHeader';
import { StatusBadge } from '@/components/StatusBadge';
import { useT, useApiText, type TranslateApiText, type Translate } from '@/lib/i18n/context';
import { templatesQuery, useTemplateImport, type Template } from './api';
import { NameForm } from './NameForm';

export function TemplatesPage() {
  const t = useT();
  const apiText = useApiText();
  const canChange = useCan('operator');
  const templates = useInfiniteQuery(templatesQuery);
  const { add: isCreating } = useSearch({ from: '/console/templates' });
  const navigate = useNavigate({ from: '/templates' });
  const setIsCreating = (next: boolean) =>
    void navigate({ search: { add: next || undefined }, replace: true });
  return (
    <>
      <PageHeader
        title={t('templates.title')}
        description={t('templates.description')}
        actions={
          canChange && (
            <>
              <ButtonLink variant="default" to="/templates/apply">
                {t('templates.applyMany')}
              </ButtonLink>
              <ImportButton />
              <Button leftSection={<IconPlus size={14} />} onClick={() => setIsCreating(true)}>
                {t('templates.new')}
              </Button>
            </>
          )
        }
      />
      <ListPanel
        query={templates}
        isUntitled
        label={t('templates.title')}
        rowKey={(row) => row.id}
        columns={columnsOf(t, apiText)}
        empty={<EmptyState icon={<IconTemplate size={20} />} title={t('templates.empty')} />}
      />
      {isCreating && <NameForm onClose={() => setIsCreating(false)} />}
    </>
  );
}

function ImportButton() {
  const t = useT();
  const navigate = useNavigate();
  const importing = useTemplateImport();
  const [unreadable, setUnreadable] = useState<Error>();
  const read = async (file: File | null) => {
    if (!file) return;
    setUnreadable(undefined);
    try {
      const created = await importing.mutateAsync(JSON.parse(await file.text()) as never);
      await navigate({ to: '/templates/$templateId', params: { templateId: created.id } });
    } catch (error) {
      if (error instanceof SyntaxError)
        setUnreadable(new Error(t('templates.unreadable', { file: file.name })));
    }
  };
  const error = unreadable ?? importing.error;
  return (
    <Group gap="xs">
      <FileButton onChange={(file) => void read(file)} accept="application/json">
        {(props) => (
          <Button
            {...props}
            variant="default"
            leftSection={<IconUpload size={14} />}
            loading={importing.isPending}
          >
            {t('templates.import')}
          </Button>
        )}
      </FileButton>
      {error && <ErrorPanel error={error} />}
    </Group>
  );
}

/**
 * The value of `engine_line` (a release series of servers) in templates that may be applied to servers of any series.
 * When such a template is applied to an instance, its values are checked against the parameters of the instance's
 * own series.
 */
const ANY_LINE = '5.7';

function lineText({ engine_line: line }: Template, t: Translate): string {
  return line === ANY_LINE ? t('templates.anyLine') : line;
}

function columnsOf(t: Translate, apiText: TranslateApiText): Column<Template>[] {
  return [
    {
      key: 'name',
      header: t('templates.name'),
      sortValue: (row) => row.name,
      render: (row) => (
        <TextLink to="/templates/$templateId" params={{ templateId: row.id }} isStrong>
          {row.name}
        </TextLink>
      ),
    },
    {
      key: 'about',
      header: t('templates.about'),
      render: (row) => apiText(`template.${row.id}`, row.description) || '–',
      isSecondary: true,
    },
    {
      key: 'kind',
      header: t('templates.kind'),
      render: (row) => (
        <StatusBadge tone={row.is_system ? 'info' : 'neutral'}>
          {t(row.is_system ? 'templates.system' : 'templates.own')}
        </StatusBadge>
      ),
    },
    { key: 'line', header: t('templates.line'), render: (row) => lineText(row, t), isSecondary: true },
    { key: 'version', header: t('templates.version'), align: 'right', render: (row) => row.version },
    {
      key: 'updated',
      header: t('templates.updated'),
      render: (row) => <Moment at={row.updated_at} relative />,
      isSecondary: true,
    },
  ];
}
