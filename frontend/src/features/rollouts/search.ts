import { textParam, type RawSearch } from '@/lib/searchParams';

export interface ApplySearch {
  instances?: string;
  template?: string;
}

export function applySearch(raw: RawSearch): ApplySearch {
  return { instances: textParam(raw, 'instances'), template: textParam(raw, 'template') };
}
