import { api, unwrap } from '@/api/client';
import { useRefetchingMutation } from '@/api/useRefetchingMutation';
import type { ChangeAction } from './actionsOf';

export function useChangeAction(id: string) {
  const params = { path: { id } };
  return useRefetchingMutation(['change', 'instance'], (action: ChangeAction) => {
    switch (action) {
      case 'approve':
        return unwrap(api.POST('/api/v1/changes/{id}/approve', { params, body: { when: 'now', note: '' } }));
      case 'apply':
        return unwrap(api.POST('/api/v1/changes/{id}/apply', { params }));
      case 'abort':
        return unwrap(api.POST('/api/v1/changes/{id}/abort', { params }));
      case 'rollback':
        return unwrap(api.POST('/api/v1/changes/{id}/rollback', { params }));
    }
  });
}
