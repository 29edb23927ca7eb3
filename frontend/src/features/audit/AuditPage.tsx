import { Button } from '@mantine/core';
import { useInfiniteQuery } from '@tanstack/react-query';
import { useNavigate, useSearch } from '@tanstack/react-router';
import { useState } from 'react';
import { useCan } from '@/api/session';
import type { Column } from '@/components/column';
import { Breakable } from '@/components/Breakable';
import { EmptyState } from '@/components/EmptyState';
import { FilterBar, FilterDay, FilterInput } from '@/components/FilterBar';
import { IconDownload, IconHistory } from '@/components/icons';
import { ListPanel } from '@/components/ListPanel';
import { Moment } from '@/components/Moment';
import { PageHeader } from '@/components/PageHeader';
import { useT, type Translate } from '@/lib/i18n/context';
import { auditQuery, type AuditEvent } from './api';
import { AuditEventDrawer } from './AuditEventDrawer';
import { ExportForm } from './ExportForm';
import type { AuditSearch } from './search';

export function AuditPage() {
  const t = useT();
  const search = useSearch({ from: '/console/audit' });
  const navigate = useNavigate({ from: '/audit' });
  const events = useInfiniteQuery(auditQuery(search));
  const isAdmin = useCan('admin');
  const [isExporting, setIsExporting] = useState(false);
  const change = (next: Partial<AuditSearch>) =>
    void navigate({ search: (old) => ({ ...old, ...next }), replace: !('event' in next) });
  return (
    <>
      <PageHeader
        title={t('audit.title')}
        description={t('audit.description')}
        actions={
          isAdmin && (
            <Button
              variant="default"
              leftSection={<IconDownload size={14} />}
              onClick={() => setIsExporting(true)}
            >
              {t('audit.export')}
            </Button>
          )
        }
      />
      {isExporting && <ExportForm from={search.from} to={search.to} onClose={() => setIsExporting(false)} />}
      <FilterBar>
        <FilterInput
          label={t('audit.filterActor')}
          value={search.actor}
          onChange={(actor) => change({ actor })}
        />
        <FilterInput
          label={t('audit.filterAction')}
          value={search.action}
          onChange={(action) => change({ action })}
        />
        <FilterInput
          label={t('audit.filterTarget')}
          value={search.target}
          onChange={(target) => change({ target })}
        />
        <FilterInput
          label={t('audit.request')}
          value={search.request}
          onChange={(request) => change({ request })}
        />
        <FilterDay label={t('monitoring.from')} value={search.from} onChange={(from) => change({ from })} />
        <FilterDay label={t('monitoring.to')} value={search.to} onChange={(to) => change({ to })} />
      </FilterBar>
      <ListPanel
        query={events}
        isUntitled
        label={t('audit.title')}
        rowKey={(row) => row.id}
        columns={columnsOf(t, (event) => change({ event }))}
        empty={
          <EmptyState icon={<IconHistory size={20} />} title={t('audit.empty')} hint={t('audit.emptyHint')} />
        }
      />
      <AuditEventDrawer id={search.event} onClose={() => change({ event: undefined })} />
    </>
  );
}

function columnsOf(t: Translate, open: (id: string) => void): Column<AuditEvent>[] {
  return [
    { key: 'when', header: t('audit.when'), render: (row) => <Moment at={row.created_at} isExact /> },
    { key: 'actor', header: t('audit.actor'), render: (row) => row.actor },
    {
      key: 'action',
      header: t('audit.action'),
      render: (row) => (
        <Button
          variant="transparent"
          size="compact-xs"
          px={0}
          h="auto"
          styles={{ label: { whiteSpace: 'normal', textAlign: 'left', lineHeight: 1.4 } }}
          onClick={() => open(row.id)}
          aria-label={t('audit.details', { action: row.action })}
        >
          <Breakable name={row.action} />
        </Button>
      ),
    },
    {
      key: 'target',
      header: t('audit.target'),
      render: (row) => row.target_name || row.target_id,
      isSecondary: true,
    },
    { key: 'address', header: t('audit.address'), render: (row) => row.address, isSecondary: true },
  ];
}
