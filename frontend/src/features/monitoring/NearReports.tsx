import { Button, TextInput } from '@mantine/core';
import { useState } from 'react';
import { FormModal } from '@/components/FormModal';
import { IconPlus } from '@/components/icons';
import { Panel } from '@/components/Panel';
import { ShownOnce } from '@/components/ShownOnce';
import { useFieldMessage } from '@/components/useFieldMessage';
import { useT } from '@/lib/i18n/context';
import { useNearTokenCreate } from './nearApi';

/** Creates a token with which a near cache reports itself to the control plane, for servers that cannot report it. */
export function NearReports({ instanceId }: { instanceId: string }) {
  const t = useT();
  const [isCreating, setIsCreating] = useState(false);
  return (
    <Panel title={t('near.report')} description={t('near.reportHint')}>
      <Button variant="default" leftSection={<IconPlus size={14} />} onClick={() => setIsCreating(true)}>
        {t('near.addToken')}
      </Button>
      {isCreating && <NearTokenForm instanceId={instanceId} onClose={() => setIsCreating(false)} />}
    </Panel>
  );
}

function NearTokenForm({ instanceId, onClose }: { instanceId: string; onClose: () => void }) {
  const t = useT();
  const said = useFieldMessage();
  const create = useNearTokenCreate(instanceId);
  const [name, setName] = useState('');
  if (create.data)
    return (
      <ShownOnce
        title={t('near.addToken')}
        facts={[
          { label: t('access.token'), value: create.data.token },
          { label: t('near.onHost'), value: create.data.command },
        ]}
        onClose={onClose}
      />
    );
  return (
    <FormModal
      title={t('near.addToken')}
      submit={t('action.create')}
      mutation={create}
      onSubmit={() => create.mutate(name)}
      onClose={onClose}
    >
      <TextInput
        label={t('access.tokenName')}
        description={t('near.tokenHint')}
        required
        data-autofocus
        value={name}
        error={said(create.error, 'name')}
        onChange={(event) => setName(event.currentTarget.value)}
      />
    </FormModal>
  );
}
