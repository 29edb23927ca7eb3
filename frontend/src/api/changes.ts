// Change sets: the only way to change anything on a server.
import { queryOptions } from '@tanstack/react-query';
import { api, unwrap } from './client';
import { connection } from './connection';
import { PAGE_SIZE, pagedQuery } from './pages';
import type { components } from './schema.gen';
import { useRefetchingMutation } from './useRefetchingMutation';

type Schemas = components['schemas'];
export type Change = Schemas['Change'];
export type ChangeSummary = Schemas['ChangeSummary'];
export type ChangePreview = Schemas['ChangePreview'];
export type ChangeLine = Schemas['ChangeLine'];
export type Finding = Schemas['InstanceFinding'];
export type ChangeState = Change['state'];

/**
 * When a change set runs: at once, at the next opening of the instance's maintenance window, or at a set time. `at` is
 * a UTC timestamp in ISO format, and null unless `when` is 'at'.
 */
export interface Timing {
  when: 'now' | 'window' | 'at';
  at: string | null;
}

const AT_WORK: string[] = ['approved', 'applying', 'verifying'];
const WORKING_POLL_MS = 1_000;

/** True if a change set in this state has been approved and not ended yet: it waits for its time, or its steps run. */
export function isAtWork(state: string): boolean {
  return AT_WORK.includes(state);
}

/**
 * One change set. It is polled every second while it is at work (`isAtWork`), and otherwise refetched when an event
 * names it.
 */
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

/**
 * New values of an instance's parameters, by parameter name, as the server's text or as an expression. Null resets a
 * parameter to its default.
 */
export type DraftValues = Record<string, string | null>;

export interface ChangeRequest {
  instanceId: string;
  parameters: DraftValues;
  allowRestart: boolean;
}

/** Returns what a change set with these values would do, and the findings that stand against it. Nothing is stored. */
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

/**
 * A mutation that creates a change set and approves it to run at the given time. `onDone` receives the change set as
 * created, before its steps have run.
 */
export function useChangeCreate(onDone: (change: Change) => void) {
  return useRefetchingMutation(
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
