import { queryOptions } from '@tanstack/react-query';
import { api, unwrap } from '@/api/client';
import type { components } from '@/api/schema.gen';
import { useRefetchingMutation } from '@/api/useRefetchingMutation';

export type Settings = components['schemas']['Settings'];
export type SettingsPatch = components['schemas']['PatchedSettingsRequest'];

export const settingsQuery = queryOptions({
  queryKey: ['settings'],
  queryFn: () => unwrap(api.GET('/api/v1/settings')),
});

export function useSettingsUpdate(version: number) {
  return useRefetchingMutation(['settings'], (body: SettingsPatch) =>
    unwrap(api.PATCH('/api/v1/settings', { params: { header: { 'If-Match': `"${version}"` } }, body })),
  );
}

export function useTestMail() {
  return useRefetchingMutation([], (to: string) =>
    unwrap(api.POST('/api/v1/alerts/test-mail', { body: { to } })),
  );
}
