import { SegmentedControl, Select, Switch, Text, TextInput } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { useState } from 'react';
import { classesQuery } from '@/api/classes';
import { useFieldMessage } from '@/components/useFieldMessage';
import { ClassField } from '@/components/ClassField';
import { EndpointFields } from '@/components/EndpointFields';
import { FormModal } from '@/components/FormModal';
import { Statements } from '@/components/Statements';
import { StatusBadge } from '@/components/StatusBadge';
import { TagsField } from '@/components/TagsField';
import { CUSTOM, customSize, isSizeUnreadable } from '@/lib/customSize';
import { useT } from '@/lib/i18n/context';
import { readTags } from '@/lib/tags';
import { useStoredForm } from '@/lib/useStoredForm';
import { accountStatements, addCommand } from './accountStatements';
import { useEndpointCheck, useInstanceAdd, type EndpointSeen } from './api';
import { checkRequestOf, emptyDraft, requestOf, type InstanceDraft } from './instanceDraft';

/**
 * The dialog that registers a server. It first tests the connection. If the server does not answer, the user can add it
 * nevertheless.
 */
export function AddInstance({ onClose }: { onClose: () => void }) {
  const t = useT();
  const said = useFieldMessage();
  const navigate = useNavigate();
  const { data: classList = [], isError: hasNoChoices } = useQuery(classesQuery);
  const [draft, setDraft, forget, startOver] = useStoredForm('instance', () => emptyDraft, [
    'password',
    'trialPassword',
  ]);
  const [isInsisting, setIsInsisting] = useState(false);
  const check = useEndpointCheck();
  const add = useInstanceAdd(({ id }) => {
    forget();
    void navigate({ to: '/instances/$instanceId', params: { instanceId: id } });
  });
  const set = (next: Partial<InstanceDraft>) => {
    setDraft((old) => ({ ...old, ...next }));
    check.reset();
    setIsInsisting(false);
  };
  const create = (seen?: EndpointSeen) => {
    const cpus = draft.cpus || seen?.cpu_count;
    const size = customSize(draft.memory, cpus, seen?.max_connections, draft.storage);
    add.mutate({ body: requestOf(draft), size: draft.instanceClass === CUSTOM ? size : undefined });
  };
  const submit = () => {
    add.reset();
    if (draft.provider === 'local' || isInsisting) create(check.data);
    else check.mutate(checkRequestOf(draft), { onSuccess: (seen) => isClear(seen, draft) && create(seen) });
  };
  const error = add.error ?? check.error;
  const isDoubtful = check.isError || (check.data && !isClear(check.data, draft));
  const isSized =
    draft.instanceClass !== CUSTOM ||
    (draft.memory !== '' && ![draft.memory, draft.storage].some(isSizeUnreadable));
  return (
    <FormModal
      title={t('addInstance.title')}
      submit={t('addInstance.submit')}
      mutation={{ error, isPending: check.isPending || add.isPending }}
      isDisabled={!draft.instanceClass || !isSized || !readTags(draft.tags)}
      onStartOver={startOver}
      onSubmit={submit}
      onCancel={() => {
        forget();
        onClose();
      }}
      onClose={onClose}
      doubts={
        isDoubtful && (
          <>
            {check.data && <Doubts seen={check.data} draft={draft} />}
            <Switch
              label={t(check.isError ? 'addInstance.untested' : 'addInstance.insist')}
              checked={isInsisting}
              onChange={(event) => setIsInsisting(event.currentTarget.checked)}
            />
          </>
        )
      }
    >
      <SegmentedControl
        size="xs"
        fullWidth
        aria-label={t('addInstance.provider')}
        value={draft.provider}
        onChange={(provider) => set({ provider })}
        data={[
          { value: 'external', label: t('addInstance.external') },
          { value: 'local', label: t('addInstance.local') },
        ]}
      />
      <TextInput
        label={t('addInstance.name')}
        required
        data-autofocus
        value={draft.name}
        error={said(error, 'name')}
        onChange={(event) => set({ name: event.currentTarget.value })}
      />
      {draft.provider === 'local' && (
        <Select
          label={t('addInstance.product')}
          allowDeselect={false}
          data={['MariaDB', 'MySQL']}
          value={draft.product}
          error={said(error, 'product')}
          onChange={(product) => set({ product: product ?? draft.product })}
        />
      )}
      <ClassField
        label={t('addInstance.class')}
        choice={draft}
        classes={classList}
        isCpuTold={draft.provider === 'external' && (!isInsisting || Boolean(check.data?.cpu_count))}
        error={hasNoChoices ? t('error.choices') : said(error, 'instance_class')}
        onChange={set}
      />
      {draft.provider === 'external' && (
        <>
          <Text component="details" size="xs">
            <summary>{t('addInstance.statements')}</summary>
            <p>{t('addInstance.statementsHint')}</p>
            <Statements lines={accountStatements(draft.username, '%')} />
            <p>{t('addInstance.command')}</p>
            <Statements lines={[addCommand(draft)]} />
          </Text>
          <EndpointFields endpoint={draft} error={error} onChange={set} />
        </>
      )}
      <TagsField value={draft.tags} error={error} onChange={(tags) => set({ tags })} />
    </FormModal>
  );
}

function isCpuMissing(seen: EndpointSeen, draft: InstanceDraft): boolean {
  return draft.instanceClass === CUSTOM && !draft.cpus && !seen.cpu_count;
}

function isClear(seen: EndpointSeen, draft: InstanceDraft): boolean {
  return seen.same_endpoint.length === 0 && !isCpuMissing(seen, draft);
}

/**
 * Warnings about a server that answered the test: it is registered already, or does not report its number of
 * processors.
 */
function Doubts({ seen, draft }: { seen: EndpointSeen; draft: InstanceDraft }) {
  const t = useT();
  return (
    <div role="status">
      {seen.same_endpoint.length > 0 && (
        <StatusBadge tone="warn">
          {t('addInstance.duplicate', { names: seen.same_endpoint.join(', ') })}
        </StatusBadge>
      )}
      {isCpuMissing(seen, draft) && <StatusBadge tone="warn">{t('addInstance.cpusMissing')}</StatusBadge>}
    </div>
  );
}
