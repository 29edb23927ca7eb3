// The button of a finding. Proposed values open the parameter editor for review. Any other action creates a change set
// and passes it to `onChange`, so that the page can follow it.
import { useNavigate } from '@tanstack/react-router';
import type { Change } from '@/api/changes';
import { proposedParameters, useInstanceAction } from '@/api/instances';

/**
 * Returns `run`, which does what the button of a finding offers. Proposed parameter values are opened in the editor for
 * review. Any other action is sent at once, and `onChange` receives the change set that it created.
 */
export function useFindingAction(instanceId: string, onChange: (change: Change) => void) {
  const navigate = useNavigate();
  const { mutate, isPending, error } = useInstanceAction(instanceId, onChange);
  const run = (route: string, body: Record<string, unknown>) => {
    const set = proposedParameters(route, body);
    if (!set) return mutate({ route, body });
    void navigate({ to: '/instances/$instanceId/parameters', params: { instanceId }, search: { set } });
  };
  return { run, isPending, error };
}

/**
 * Returns `run`, which does what the button of a finding offers. Proposed parameter values are opened in the editor for
 * review. Any other action is sent at once, and the page of the change set that it created is opened.
 */
export function useFindingActionPage(instanceId: string) {
  const navigate = useNavigate();
  return useFindingAction(
    instanceId,
    ({ id }) =>
      void navigate({
        to: '/instances/$instanceId/changes/$changeId',
        params: { instanceId, changeId: id },
      }),
  );
}
