import type { Change } from '@/api/changes';

export type ChangeAction = 'approve' | 'apply' | 'abort' | 'rollback';

const REVERTIBLE: Change['kind'][] = ['parameters', 'enable', 'disable', 'revert', 'resize'];

/**
 * The actions that a change set allows in its state. `canStart` is false for a user who may not set its parameters;
 * only aborting it is left then.
 */
export function actionsOf(
  change: Pick<Change, 'state' | 'kind' | 'when' | 'is_abort_requested'>,
  canStart = true,
): ChangeAction[] {
  return possible(change).filter((action) => canStart || action === 'abort');
}

function possible(change: Parameters<typeof actionsOf>[0]): ChangeAction[] {
  switch (change.state) {
    case 'previewed':
      return ['approve', 'abort'];
    case 'approved':
      return change.when === 'now' ? ['abort'] : ['apply', 'abort'];
    case 'applying':
    case 'verifying':
      return change.is_abort_requested ? [] : ['abort'];
    case 'applied':
      return REVERTIBLE.includes(change.kind) ? ['rollback'] : [];
    default:
      return [];
  }
}
