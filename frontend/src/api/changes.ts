// Change sets: the only way to change anything on a server.
import { queryOptions } from '@tanstack/react-query';
import { api, unwrap } from './client';
import { connection } from './connection';
import { PAGE_SIZE, pagedQuery } from './pages';
import type { components } from './schema.gen';
import { useActed } from './useActed';

type Schemas = components['schemas'];
export type Change = Schemas['Change'];
export type ChangeSummary = Schemas['ChangeSummary'];
export type ChangePreview = Schemas['ChangePreview'];
export type ChangeLine = Schemas['ChangeLine'];
export type Finding = Schemas['InstanceFinding'];
export type ChangeState = Change['state'];

export interface Timing {
  when: 'now' | 'window' | 'at';
  at: string | null;
}

const AT_WORK: string[] = ['approved', 'applying', 'verifying'];
const WORKING_POLL_MS = 1_000;

export function isAtWork(state: string): boolean {
  return AT_WORK.includes(state);
}

export function changeQuery(id: string) {
  return queryOptions({
    queryKey: ['change', 'one', id],
    queryFn: () => unwrap(api.GET('/api/v1/changes/{id}', { params: { path: { id } } })),
    refetchInterval: ({ state }) =>
      state.data && isAtWork(state.data.state) && !connection.isLost() ? WORKING_POLL_MS : false,
  });
}

export function instanceChangesQuery(id: string) {
  return pagedQuery<ChangeSummary>(['change', 'of-instance', id], (cursor) =>
    unwrap(
      api.GET('/api/v1/instances/{id}/changes', {
        params: { path: { id }, query: { cursor, limit: PAGE_SIZE } },
      }),
    ),
  );
}

/** Null resets a parameter to its default. */
export type DraftValues = Record<string, string | null>;

export interface ChangeRequest {
  instanceId: string;
  parameters: DraftValues;
  allowRestart: boolean;
}

export function previewChange({
  instanceId,
  parameters,
  allowRestart,
}: ChangeRequest): Promise<ChangePreview> {
  return unwrap(
    api.POST('/api/v1/changes/preview', {
      body: { instance: instanceId, parameters, allow_restart: allowRestart, replace: false },
    }),
  );
}

type ChangeOrder = ChangeRequest & { timing: Timing; note: string };

export function useChangeCreate(onDone: (change: Change) => void) {
  return useActed(
    ['instance', 'change'],
    ({ instanceId, parameters, allowRestart, timing, note }: ChangeOrder) =>
      unwrap(
        api.POST('/api/v1/instances/{id}/changes', {
          params: { path: { id: instanceId } },
          body: { parameters, allow_restart: allowRestart, replace: false, apply: true, note, ...timing },
        }),
      ),
    onDone,
  );
}
