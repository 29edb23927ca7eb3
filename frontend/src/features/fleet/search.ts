import { choiceParam, flagParam, textParam, type RawSearch } from '@/lib/searchParams';

export const STATES = [
  'creating',
  'running',
  'changing',
  'stopped',
  'unreachable',
  'failed',
  'deleting',
] as const;
export type State = (typeof STATES)[number];

export interface FleetSearch {
  search?: string;
  state?: State;
  class?: string;
  tag?: string;
  drifted?: true;
  pending?: true;
  /** True to show only instances without the engine. */
  bare?: true;
  /** True while the dialog that registers an instance is open. */
  add?: true;
}

export function fleetSearch(raw: RawSearch): FleetSearch {
  return {
    search: textParam(raw, 'search'),
    state: choiceParam(raw, 'state', STATES),
    class: textParam(raw, 'class'),
    tag: textParam(raw, 'tag'),
    drifted: flagParam(raw, 'drifted'),
    pending: flagParam(raw, 'pending'),
    bare: flagParam(raw, 'bare'),
    add: flagParam(raw, 'add'),
  };
}
