import { numberParam, textParam, type RawSearch } from '@/lib/searchParams';

export interface TemplateSearch {
  /** An older version to look at. */
  version?: number;
  /** Compared with another template, or with another version of this one. */
  with?: string;
  withVersion?: number;
}

export function templateSearch(raw: RawSearch): TemplateSearch {
  return {
    version: numberParam(raw, 'version'),
    with: textParam(raw, 'with'),
    withVersion: numberParam(raw, 'withVersion'),
  };
}
