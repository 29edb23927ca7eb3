import type { Change } from '@/api/changes';

const ENDS: Change['state'][] = ['applied', 'rolled_back', 'failed', 'aborted'];

/** Nothing more happens to a change in such a state. */
export function isOver({ state }: Pick<Change, 'state'>): boolean {
  return ENDS.includes(state);
}
