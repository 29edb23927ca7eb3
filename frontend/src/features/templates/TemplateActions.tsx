import { Button } from '@mantine/core';
import { useNavigate } from '@tanstack/react-router';
import { useState } from 'react';
import { useCan } from '@/api/session';
import { ConfirmModal } from '@/components/ConfirmModal';
import { IconCopy, IconDownload, IconPencil, IconTrash } from '@/components/icons';
import { ButtonLink } from '@/components/links';
import { useT } from '@/lib/i18n/context';
import { readDocument, useTemplateDelete, type TemplateDetail } from './api';
import { NameForm } from './NameForm';
import { saveText } from './saveText';

export function TemplateActions({ template, onEdit }: { template: TemplateDetail; onEdit: () => void }) {
  const t = useT();
  const canChange = useCan('operator');
  const navigate = useNavigate();
  const remove = useTemplateDelete(template, () => void navigate({ to: '/templates' }));
  const [dialog, setDialog] = useState<'clone' | 'delete'>();
  const save = async () => {
    const content = await readDocument(template.id);
    saveText(`${template.name}.json`, JSON.stringify(content, null, 2));
  };
  return (
    <>
      <Button variant="default" leftSection={<IconDownload size={14} />} onClick={() => void save()}>
        {t('templates.export')}
      </Button>
      {canChange && (
        <>
          <Button variant="default" leftSection={<IconCopy size={14} />} onClick={() => setDialog('clone')}>
            {t('templates.clone')}
          </Button>
          {!template.is_system && (
            <>
              <Button
                variant="default"
                color="red"
                leftSection={<IconTrash size={14} />}
                onClick={() => setDialog('delete')}
              >
                {t('action.delete')}
              </Button>
              <Button variant="default" leftSection={<IconPencil size={14} />} onClick={onEdit}>
                {t('action.edit')}
              </Button>
            </>
          )}
          <ButtonLink to="/templates/apply" search={{ template: template.id }}>
            {t('templates.apply')}
          </ButtonLink>
        </>
      )}
      {dialog === 'clone' && <NameForm source={template} onClose={() => setDialog(undefined)} />}
      {dialog === 'delete' && (
        <ConfirmModal
          title={t('templates.deleteAsk', { name: template.name })}
          confirm={t('action.delete')}
          error={remove.error}
          isBusy={remove.isPending}
          onConfirm={() => remove.mutate()}
          onClose={() => setDialog(undefined)}
        >
          {t('templates.deleteHint')}
        </ConfirmModal>
      )}
    </>
  );
}
