// What the button beside a finding does: values that it proposes go to the parameter editor, to be looked at first;
// anything else becomes a change set, which the page that asked then follows.
import { useNavigate } from '@tanstack/react-router';
import type { Change } from '@/api/changes';
import { preparedBy, useInstanceAction } from '@/api/instances';

export function useFindingAction(instanceId: string, onChange: (change: Change) => void) {
  const navigate = useNavigate();
  const { mutate, isPending, error } = useInstanceAction(instanceId, onChange);
  const run = (route: string, body: Record<string, unknown>) => {
    const set = preparedBy(route, body);
    if (!set) return mutate({ route, body });
    void navigate({ to: '/instances/$instanceId/parameters', params: { instanceId }, search: { set } });
  };
  return { run, isPending, error };
}

/** As `useFindingAction`, going to the page of the change set. */
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
