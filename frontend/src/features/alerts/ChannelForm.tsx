import { PasswordInput, Select, Switch, TextInput } from '@mantine/core';
import { FormModal } from '@/components/FormModal';
import { TagsField } from '@/components/TagsField';
import { useFieldMessage } from '@/components/useFieldMessage';
import { useT } from '@/lib/i18n/context';
import { readTags } from '@/lib/tags';
import { useStoredForm } from '@/lib/useStoredForm';
import { useChannelSave, type Channel } from './channelApi';
import {
  CHANNEL_KINDS,
  channelDraftOf,
  channelRequest,
  hasUrl,
  isSecretDue,
  newChannel,
  type ChannelDraft,
} from './channelDraft';

export function ChannelForm({ channel, onClose }: { channel?: Channel; onClose: () => void }) {
  const t = useT();
  const said = useFieldMessage();
  const save = useChannelSave(channel);
  const [draft, setDraft, forget, startOver] = useStoredForm(
    channel ? `channel.${channel.id}.${channel.version}` : 'channel',
    () => (channel ? channelDraftOf(channel) : newChannel),
    ['secret'],
  );
  const set = (next: Partial<ChannelDraft>) => setDraft((old) => ({ ...old, ...next }));
  const done = () => {
    forget();
    onClose();
  };
  const isDue = isSecretDue(draft, channel);
  return (
    <FormModal
      title={channel ? t('channels.edit', { name: channel.name }) : t('channels.new')}
      submit={t('action.save')}
      mutation={save}
      isDisabled={!readTags(draft.tags)}
      onStartOver={startOver}
      onSubmit={() => save.mutate(channelRequest(draft), { onSuccess: done })}
      onCancel={done}
      onClose={onClose}
    >
      <TextInput
        label={t('channels.name')}
        required
        data-autofocus
        value={draft.name}
        error={said(save.error, 'name')}
        onChange={(event) => set({ name: event.currentTarget.value })}
      />
      <Select
        label={t('channels.kind')}
        disabled={channel !== undefined}
        data={CHANNEL_KINDS.map((value) => ({ value, label: t(`channels.kind.${value}`) }))}
        value={draft.kind}
        onChange={(next) => set({ kind: CHANNEL_KINDS.find((value) => value === next) })}
      />
      {hasUrl(draft) && (
        <TextInput
          label={t('channels.url')}
          description={t(`channels.urlHint.${draft.kind === 'webhook' ? 'webhook' : 'pagerduty'}`)}
          required={draft.kind === 'webhook'}
          value={draft.url}
          error={said(save.error, 'url')}
          onChange={(event) => set({ url: event.currentTarget.value })}
        />
      )}
      {draft.kind === 'mail' ? (
        <TextInput
          label={t('rules.recipients')}
          description={t('channels.recipientsHint')}
          required
          value={draft.recipients}
          error={said(save.error, 'recipients')}
          onChange={(event) => set({ recipients: event.currentTarget.value })}
        />
      ) : (
        <PasswordInput
          label={t(`channels.secret.${draft.kind}`)}
          description={t(isDue ? `channels.secretHint.${draft.kind}` : 'channels.secretKept')}
          required={isDue}
          size="xs"
          autoComplete="new-password"
          value={draft.secret}
          error={said(save.error, 'secret')}
          onChange={(event) => set({ secret: event.currentTarget.value })}
        />
      )}
      <TagsField value={draft.tags} error={save.error} onChange={(tags) => set({ tags })} />
      <Switch
        label={t('channels.criticalOnly')}
        checked={draft.isCriticalOnly}
        onChange={(event) => set({ isCriticalOnly: event.currentTarget.checked })}
      />
      <Switch
        label={t('rules.enabled')}
        checked={draft.isEnabled}
        onChange={(event) => set({ isEnabled: event.currentTarget.checked })}
      />
    </FormModal>
  );
}
