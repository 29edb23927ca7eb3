import type { Change } from '@/api/changes';

const ENDS: Change['state'][] = ['applied', 'rolled_back', 'failed', 'aborted'];

/** True if a change in this state is finished for good. */
export function isOver({ state }: Pick<Change, 'state'>): boolean {
  return ENDS.includes(state);
}
