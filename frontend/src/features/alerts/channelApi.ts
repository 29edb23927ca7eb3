import { api, unwrap } from '@/api/client';
import { PAGE_SIZE, pagedQuery } from '@/api/pages';
import type { components } from '@/api/schema.gen';
import { useRefetchingMutation } from '@/api/useRefetchingMutation';

export type Channel = components['schemas']['Channel'];
export type ChannelRequest = components['schemas']['ChannelWriteRequest'];

export const channelsQuery = pagedQuery<Channel>(['channel'], (cursor) =>
  unwrap(api.GET('/api/v1/channels', { params: { query: { cursor, limit: PAGE_SIZE } } })),
);

function held(channel: Channel) {
  return { path: { id: channel.id }, header: { 'If-Match': `"${channel.version}"` } };
}

export function useChannelSave(channel: Channel | undefined) {
  return useRefetchingMutation(['channel'], (body: ChannelRequest) =>
    channel
      ? unwrap(api.PUT('/api/v1/channels/{id}', { params: held(channel), body }))
      : unwrap(api.POST('/api/v1/channels', { body })),
  );
}

export function useChannelDelete() {
  return useRefetchingMutation(['channel'], (channel: Channel) =>
    unwrap(api.DELETE('/api/v1/channels/{id}', { params: held(channel) })),
  );
}

/**
 * A mutation that sends a test message through a stored channel. It fails with the receiver's response if that refuses
 * the message.
 */
export function useChannelTest() {
  return useRefetchingMutation(['channel'], ({ id }: Channel) =>
    unwrap(api.POST('/api/v1/channels/{id}/test', { params: { path: { id } } })),
  );
}
