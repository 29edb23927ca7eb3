import type { Change } from '@/api/changes';

const ENDS: Change['state'][] = ['applied', 'rolled_back', 'failed', 'aborted'];

/** True if the change set has ended, whether well or not, and will never run again. */
export function isOver({ state }: Pick<Change, 'state'>): boolean {
  return ENDS.includes(state);
}
