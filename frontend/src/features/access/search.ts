import { choiceParam, type RawSearch } from '@/lib/searchParams';

export const ACCESS_TABS = ['users', 'tokens', 'keys', 'sessions'] as const;

export interface AccessSearch {
  tab?: (typeof ACCESS_TABS)[number];
}

export function accessSearch(raw: RawSearch): AccessSearch {
  return { tab: choiceParam(raw, 'tab', ACCESS_TABS) };
}
